"""A second factor in Chromium is set up, used and recovered; a session is ended; pages pass axe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader
from tests.support.factories import PASSWORD, make_user
from tests.support.fielding import sign_in as sign_in_elsewhere
from tests.support.second_factors import add_second_factor, code_now


@pytest.fixture
def person(live: LiveApplication) -> User:
    return make_user("rosa@example.org")


@pytest.fixture
def reader(chromium: Browser, live: LiveApplication) -> Iterator[Reader]:
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    found = Reader(context.new_page(), live)
    yield found
    found.assert_nothing_went_wrong()
    context.close()


def enter(page: Page, label: str, text: str, button: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name=button, exact=True).click()


def enter_password(page: Page, live: LiveApplication, *, then: str) -> None:
    page.goto(f"{live.url}/accounts/login/")
    page.get_by_label("Email address").fill("rosa@example.org")
    enter(page, "Password", PASSWORD, "Sign in")
    expect(page.get_by_role("heading", level=1)).to_have_text(then)


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_second_factor_is_set_up_used_and_recovered(
    person: User, reader: Reader, live: LiveApplication
) -> None:
    page = reader.page
    heading = page.get_by_role("heading", level=1)
    enter_password(page, live, then="Your surveys")
    page.get_by_role("button", name="Account").click()
    page.get_by_role("link", name="Your account").click()
    page.get_by_role("link", name="Set up").click()
    enter(page, "Password", PASSWORD, "Confirm")
    expect(heading).to_have_text("Set up a second factor")
    drawn = page.get_by_role("img", name="QR code of the key").bounding_box()
    assert drawn is not None
    assert drawn["width"] == drawn["height"] >= 200
    page.get_by_text("Without a camera").click()
    secret = page.locator("details code").inner_text()
    enter(page, "Code from the app", code_now(secret), "Turn on")
    expect(heading).to_have_text("Recovery codes")
    codes = page.locator("main li code").all_inner_texts()
    assert len(codes) == 10
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_text("Recovery codes left: 10.")).to_be_visible()
    sign_out(page)

    enter_password(page, live, then="Enter a code")
    # The first code turned the factor on; the app shows the next code by now.
    enter(page, "Code", code_now(secret, seconds=30), "Sign in")
    expect(heading).to_have_text("Your surveys")
    sign_out(page)

    enter_password(page, live, then="Enter a code")
    enter(page, "Code", codes[0], "Sign in")
    expect(heading).to_have_text("Your surveys")
    page.goto(f"{live.url}/accounts/")
    expect(page.get_by_text("Recovery codes left: 9.")).to_be_visible()


def test_a_session_elsewhere_is_ended(person: User, reader: Reader, live: LiveApplication) -> None:
    page = reader.page
    elsewhere = sign_in_elsewhere(person)
    enter_password(page, live, then="Your surveys")
    page.goto(f"{live.url}/accounts/")
    page.get_by_role("button", name="End the session").click()
    expect(page.get_by_role("status")).to_have_text("The session was ended.")
    expect(page.get_by_role("button", name="End")).to_have_count(0)
    assert elsewhere.get("/accounts/").status_code == 302


PAGES = (
    "",
    "address/",
    "tokens/new/",
    "leave/",
    "password/change/",
    "recovery-codes/",
    "recovery-codes/new/",
)


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_every_page_passes_axe(
    chromium: Browser, live: LiveApplication, person: User, viewport: dict[str, int]
) -> None:
    context = chromium.new_context(viewport=viewport)  # type: ignore[arg-type]
    page = context.new_page()

    def look(name: str) -> None:
        assert find_violations(page, in_dark=viewport is DESK) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    enter_password(page, live, then="Your surveys")
    page.goto(f"{live.url}/accounts/second-factor/")
    enter(page, "Password", PASSWORD, "Confirm")
    page.get_by_text("Without a camera").click()
    look("set-up")
    enter(page, "Code from the app", "12", "Turn on")
    look("wrong")
    codes = add_second_factor(person)
    sign_in_elsewhere(person)
    for path in PAGES:
        page.goto(f"{live.url}/accounts/{path}")
        look(path)
    page.goto(f"{live.url}/accounts/second-factor/off/")
    look("off")
    context.clear_cookies()
    enter_password(page, live, then="Enter a code")
    look("code")
    enter(page, "Code", codes[0], "Sign in")
    page.goto(f"{live.url}/accounts/leave/")
    look("confirm")
    context.close()
