"""Two people edit the same draft at once in Chromium: nothing is lost, and the later is told."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from surveys.authoring.services import add_translation
from surveys.models import Role
from tests.support.browser.accessibility import AXE, RUN_AXE
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, Reader, make_context
from tests.support.factories import make_survey, make_user
from tests.support.fielding import sign_in


def test_two_people_save_the_same_pages(chromium: Browser, live: LiveApplication) -> None:
    survey = make_survey(questions=["Do you sleep well?"])
    colleague = make_user("colleague@example.org")
    survey.memberships.create(account=colleague, role=Role.EDITOR)
    add_translation(survey=survey, language="fr")
    ours = make_context(chromium, live, survey, viewport=PHONE)
    reader = Reader(ours.new_page(), live)
    theirs = chromium.new_context()
    session = sign_in(colleague).cookies["session"].value
    theirs.add_cookies([{"name": "session", "value": session, "url": live.url}])
    pages = (reader.page, theirs.new_page())
    for path, button in (
        ("settings", "Save the settings"),
        ("languages/fr", "Save the translation"),
    ):
        for page in pages:
            page.goto(f"{live.url}/surveys/{survey.slug}/{path}")
            page.get_by_label("Title", exact=True).first.fill(f"Title of {pages.index(page)}")
        pages[1].get_by_role("button", name=button).click()
        expect(pages[1].locator("#merge")).to_have_count(0)
        _merge(reader.page, button)
    survey.refresh_from_db()
    assert survey.title == "Title of 1"
    assert survey.translations.get().texts == {"Title of 1": "Title of 1"}
    # The browser itself tells that forms were refused.
    reader.messages = [said for said in reader.messages if "status of 422" not in said]
    reader.assert_nothing_went_wrong()
    ours.close()
    theirs.close()


def _merge(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).click()
    merge = page.locator("#merge")
    expect(merge.locator("fieldset")).to_have_count(1)
    expect(merge).to_contain_text("Title of 1")
    page.evaluate(AXE)
    assert page.evaluate(RUN_AXE) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    merge.get_by_label("Theirs").check()
    page.get_by_role("button", name=button).click()
    expect(merge).to_have_count(0)
