"""Two people edit a draft at once in Chromium: nothing is lost, and the later person is told."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from accounts.tokens import Scope, make_token
from surveys.authoring.services import add_translation
from surveys.definition.exporting import build_definition, export_definition
from surveys.definition.replacing import hash_definition
from surveys.models import Role, Survey
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, Reader, make_context
from tests.support.factories import make_survey, make_user
from tests.support.fielding import sign_in

SENDS = """([url, token, tag, body]) => {
    const headers = { Authorization: `Bearer ${token}`, "If-Match": tag };
    headers["Content-Type"] = "application/json";
    window.sent = fetch(url, { method: "PUT", headers, body }).then((reply) => reply.status);
}"""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A person's open page, the words typed there, and the notice if the person saves later."""

    kind: str
    words: str
    page: Page
    field: str
    told: str
    button: str = ""  # "" for the editor, which saves automatically

    def save(self) -> None:
        """Press the button in half a second, without waiting for the result."""
        press = "button => { button.form.dataset.old = ''; setTimeout(() => button.click(), 500); }"
        if self.button:
            self.page.get_by_role("button", name=self.button).evaluate(press)

    def is_told(self) -> bool:
        """Wait for the reply; return whether the person was told and can still see the words."""
        told = self.page.get_by_text(self.told)
        if self.button:
            # Do not wait for a message: another tab of the same browser may show it.
            expect(self.page.locator("form[data-old]")).to_have_count(0)
            self.page.wait_for_load_state()
        else:
            saved = self.page.locator("#panel-state", has_text=re.compile("^Saved"))
            expect(saved.or_(told)).to_be_visible()
        if not told.is_visible():
            return False
        assert self.words in self.page.locator(self.field).first.input_value()
        return True


def open_all(
    context: BrowserContext, survey: Survey, live: LiveApplication, who: str
) -> list[Edit]:
    """Open the pages of all edits in one browser."""

    def go(path: str) -> Page:
        page = context.new_page()
        page.goto(f"{live.url}/surveys/{survey.slug}/{path}")
        return page

    imported = {**build_definition(survey), "settings": {"introduction": f"Import of {who}"}}
    comparing = go("definition/compare")
    comparing.locator("#id_text").fill(json.dumps(imported))
    comparing.get_by_role("button", name="Compare").click()
    replace = "Replace this draft with the file"
    expect(comparing.get_by_role("button", name=replace)).to_be_visible()
    return [
        Edit(
            kind="import",
            words=f"Import of {who}",
            page=comparing,
            field="#id_text",
            told="The draft has changed since you compared it",
            button=replace,
        ),
        Edit(
            kind="settings",
            words=f"Title of {who}",
            page=go("settings"),
            field="#id_title",
            told="Yours or theirs?",
            button="Save the settings",
        ),
        Edit(
            kind="translation",
            words=f"Words of {who}",
            page=go("languages/fr"),
            field="[name^=words-] >> nth=-1",
            told="Yours or theirs?",
            button="Save the translation",
        ),
        Edit(
            kind="question",
            words=f"Question of {who}?",
            page=go(f"questions#question-{survey.questions.all()[0].pk}"),
            field="#panel #id_text",
            told="This was changed in another window.",
        ),
    ]


@pytest.mark.long
def test_two_people_save_everything_at_once(chromium: Browser, live: LiveApplication) -> None:
    survey = make_survey(questions=["Do you sleep well?", "Do you eat well?"])
    colleague = make_user("colleague@example.org")
    survey.memberships.create(account=colleague, role=Role.EDITOR)
    add_translation(survey=survey, language="fr")
    content = export_definition(survey)
    edits: list[Edit] = []
    programs: dict[str, Page] = {}
    for who, person in (("Ada", survey.owner), ("Bob", colleague)):
        context = chromium.new_context()
        session = sign_in(person).cookies["session"].value
        context.add_cookies([{"name": "session", "value": session, "url": live.url}])
        programs[who] = context.new_page()
        programs[who].goto(f"{live.url}/api")
        edits += open_all(context, survey, live, who)
    for edit in edits:
        if edit.kind != "import":
            edit.page.locator(edit.field).fill(edit.words)
    for edit in edits:
        edit.save()
    for who, page in programs.items():
        person = survey.owner if who == "Ada" else colleague
        _, token = make_token(user=person, name=who, scopes=[Scope.DRAFTS], days=1)
        changed = {**json.loads(content), "settings": {"organization": f"Program of {who}"}}
        url = f"{live.url}/api/surveys/{survey.slug}/definition"
        page.evaluate(SENDS, [url, token, f'"{hash_definition(content)}"', json.dumps(changed)])
    told = [edit for edit in edits if edit.is_told()]
    statuses = {who: page.evaluate("window.sent") for who, page in programs.items()}
    stored = export_definition(Survey.objects.get(pk=survey.pk)).decode()
    for edit in edits:
        assert (edit.words in stored) != (edit in told), edit.words
    for who, status in statuses.items():
        assert status == (200 if f"Program of {who}" in stored else 412)
    for kind in ("import", "settings", "translation", "question"):
        assert any(edit.kind == kind for edit in told), "one of the two was later"
    for edit in told:
        if edit.kind == "settings":
            mine = edit.page.locator("#merge input[value=mine]:checked")
            assert mine.evaluate_all("all => all.map((one) => one.name)") == ["keep-title"]
    _save_again([edit for edit in told if edit.kind != "import"], survey)
    if 200 in statuses.values():
        assert Survey.objects.get(pk=survey.pk).organization, "not typed, and not taken back"


def _save_again(told: list[Edit], survey: Survey) -> None:
    """Let the later people save once more, with the proposed values."""
    for edit in told:
        if edit.button:
            edit.save()
            if edit.is_told():  # another edit was saved before this one
                edit.save()
                assert not edit.is_told()
        else:
            edit.page.get_by_role("button", name="Save this choice").click()
            expect(edit.page.get_by_text(edit.told)).to_have_count(0)
        stored = export_definition(Survey.objects.get(pk=survey.pk)).decode()
        assert edit.words in stored


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
    # Chromium logs replies that refuse a form.
    reader.messages = [said for said in reader.messages if "status of 422" not in said]
    reader.assert_nothing_went_wrong()
    ours.close()
    theirs.close()


def _merge(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).click()
    merge = page.locator("#merge")
    expect(merge.locator("fieldset")).to_have_count(1)
    expect(merge).to_contain_text("Title of 1")
    assert find_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    merge.get_by_label("Theirs").check()
    page.get_by_role("button", name=button).click()
    expect(merge).to_have_count(0)
