"""A team's first day in Chromium: an invitation, a new account, roles and a handover, with axe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from surveys.models import Role, Survey
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE
from tests.support.factories import PASSWORD, make_survey, make_user
from tests.support.invitations import receive


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_survey(owner=make_user("rosa@example.org"))


@pytest.fixture(params=[PHONE, DESK], ids=["phone", "desk"])
def page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = chromium.new_context(viewport=request.param)
    yield context.new_page()
    context.close()


def look(page: Page, name: str) -> None:
    assert find_violations(page, in_dark=page.viewport_size == DESK) == [], name
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def sign_in(page: Page, live: LiveApplication, address: str, password: str = PASSWORD) -> None:
    page.context.clear_cookies()
    page.goto(f"{live.url}/accounts/login/")
    page.get_by_label("Email address").fill(address)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your surveys")


@pytest.mark.long
def test_a_teams_first_day(page: Page, survey: Survey, live: LiveApplication) -> None:
    heading = page.get_by_role("heading", level=1)
    sign_in(page, live, "rosa@example.org")
    page.goto(f"{live.url}/surveys/{survey.slug}/")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_label("Email address").fill("ada@example.org")
    page.get_by_label("Role", exact=True).select_option(label="Editor")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_text("ada@example.org", exact=True)).to_be_visible()
    look(page, "people")

    page.context.clear_cookies()
    link = f"{live.url}{receive()}"
    page.goto(link)
    look(page, "new account")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Password").fill("four unrelated words walking")
    page.get_by_role("button", name="Create the account").click()
    expect(heading).to_have_text("Sign in")
    sign_in(page, live, "ada@example.org", "four unrelated words walking")
    page.get_by_role("link", name="On the road").first.click()
    expect(page.get_by_role("link", name="People", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Your role: editor").click()
    expect(heading).to_have_text("Your role: editor")
    look(page, "role")
    page.goto(f"{live.url}/surveys/{survey.slug}/launch")
    expect(heading).to_have_text("Your role does not allow this")
    look(page, "refused")

    sign_in(page, live, "rosa@example.org")
    page.goto(f"{live.url}/teams")
    page.get_by_label("Name of the team").fill("Field work")
    page.get_by_role("button", name="Make the team").click()
    expect(heading).to_have_text("Field work")
    look(page, "team")
    page.goto(f"{live.url}/surveys/{survey.slug}/people")
    page.get_by_role("button", name="Attach").click()
    expect(page.get_by_text("The team was attached.")).to_be_visible()
    look(page, "attached")
    page.goto(f"{live.url}/teams")
    look(page, "teams")
    page.goto(f"{live.url}/accounts/")
    page.get_by_role("link", name="Hand your surveys over").click()
    expect(heading).to_have_text("Hand your surveys over")
    look(page, "hand over")
    with page.expect_navigation():
        page.get_by_role("button", name="Hand over").click()
    assert survey.owner == User.objects.get(email="ada@example.org")
    survey.memberships.get(role=Role.OWNER)
