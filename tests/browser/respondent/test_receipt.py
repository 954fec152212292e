"""The receipt of what was sent, the test of the scrambling, and the page as one file."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Locator, Page, expect

from aggregator.models import RawReport
from surveys.models import Wave
from tests.support.browser.accessibility import fill_in
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    PAID,
    THINGS,
    TIRED,
    make_branching_survey,
    walk_through,
)
from tests.support.browser.qr_codes import draw_symbol
from tests.support.browser.sending import TWO, kept, submit
from tests.support.browser.visit import HASTE, SENT, Visitor, answer, press, status
from tests.support.factories import QUESTIONS, make_launched_survey

RECEIPT = "See what was sent"
BOTH = f"{LONELY} {LONELY_STILL}"
# The meaning of each question's letters, as the receipt lists it.
MEANINGS = {
    MOVED: ["A = No · B = Yes · C = Prefer not to say"],
    THINGS: ["B = Prefer not to say · C = Not asked", "A = No · B = Yes"],
    BOTH: ["A = No · B = Yes, Yes · C = Yes, No · D = Prefer not to say"],
    HOURS: ["A = 0 · B = 24 · C = Prefer not to say · D = Not asked"],
    TIRED: ["A = 1 · B = 2 · C = 3 · D = 4 · E = 5"],
    PAID: ["A = I · B = Somebody else · C = Nobody"],
    GROUP: ["A = In a town · B = Elsewhere", "Not scrambled"],
}
EVERYTHING = (MOVED, THINGS, LONELY, LONELY_STILL, HOURS, TIRED, PAID, GROUP)


def open_receipt(page: Page) -> Locator:
    expect(status(page)).to_have_text(SENT)
    receipt = page.locator("details", has_text=RECEIPT).first
    assert receipt.get_attribute("open") is None
    receipt.locator("summary").first.click()
    return receipt


def read_letters(receipt: Locator) -> dict[str, str]:
    rows = receipt.locator(".letters > div").all()
    return {
        row.locator("dt").inner_text(): " ".join(row.locator("dd > bdi").all_inner_texts())
        for row in rows
    }


def read_meanings(receipt: Locator) -> dict[str, list[str]]:
    """Return the notes beside the letters of each question."""
    rows = receipt.locator(".letters > div").all()
    notes = "small, .but"
    return {row.locator("dt").inner_text(): row.locator(notes).all_inner_texts() for row in rows}


def test_the_receipt_shows_what_was_sent_and_disappears_with_the_page(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    submit(page)
    receipt = open_receipt(page)
    letters = json.loads(visitor.bodies()[0])["symbols"]
    assert read_letters(receipt) == dict(zip(QUESTIONS, letters, strict=True))
    assert read_meanings(receipt) == {one: ["A = No · B = Yes"] for one in QUESTIONS}
    expect(receipt.get_by_text("Chance may have changed them.")).to_be_visible()
    expect(receipt.get_by_text("25 send the same code as a Yes")).to_be_visible()
    assert not re.search("[{εδ]|SHA", page.locator("body").inner_text())
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("already sent")
    assert page.get_by_text(RECEIPT).count() == 0


def test_the_receipt_says_which_letters_belong_to_a_question_of_any_type(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey(drawn=2))
    walk_through(page, dict.fromkeys(EVERYTHING, fill_in))
    press(page, "Submit")
    receipt = open_receipt(page)
    symbols = json.loads(visitor.bodies()[0])["symbols"]
    letters, meanings = read_letters(receipt), read_meanings(receipt)
    assert list(letters) == [MOVED, THINGS, BOTH, HOURS, TIRED, PAID, GROUP]
    assert "".join(letters.values()).replace(" ", "") == symbols
    assert len(letters[THINGS].split(" ")) == 4  # the gate and three rows
    for question, letter in letters.items():
        expected = ["Not asked"] if "~" in letter else MEANINGS[question]
        assert meanings[question] == expected
    assert "~" in symbols


def test_the_receipt_says_what_each_letter_stands_for(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    walk_through(page, dict.fromkeys(EVERYTHING, fill_in))
    press(page, "Submit")
    assert read_meanings(open_receipt(page)) == MEANINGS


def test_a_code_that_is_sent_another_day_has_the_same_receipt(visitor: Visitor) -> None:
    wave = make_launched_survey()
    page = visitor.open(wave)
    answer(page, TWO)
    page.get_by_role("link", name="Scramble now, send later").click()
    expect(page.get_by_role("button", name="Send now")).to_be_visible()
    page.reload()
    press(page, "Send now")
    receipt = open_receipt(page)
    letters = json.loads(visitor.bodies()[0])["symbols"]
    assert read_letters(receipt) == dict(zip(QUESTIONS, letters, strict=True))


def test_thanks_come_with_the_help_that_the_survey_names(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(help_name="Anna", help_phone="0800 555 0123"))
    link = page.get_by_role("link", name="0800 555 0123")
    expect(page.locator("footer").get_by_role("link", name="0800 555 0123")).to_be_visible()
    submit(page)
    expect(status(page)).to_have_text(SENT)
    # The link is on the screen once: the footer's link is removed.
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("href", "tel:08005550123")
    bottom = page.locator("main .help").evaluate("(one) => one.getBoundingClientRect().bottom")
    assert bottom < page.evaluate("innerHeight")


# Notes when the progress of the test was shown, in milliseconds from the start of the test.
NOTE_PROGRESS = """
    globalThis.steps = [];
    const { set, get } = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, "value");
    let start = 0;
    Object.defineProperty(HTMLProgressElement.prototype, "value", { get, set(value) {
      if (!value) start = performance.now();
      else steps.push(performance.now() - start);
      set.call(this, value);
    } });
"""
BIASED = "Crypto.prototype.getRandomValues = (array) => array.fill(0);"


def run_test(visitor: Visitor, wave: Wave, language: str = "en") -> Page:
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}/s/{wave.survey.slug}/check?lang={language}")
    page.locator("#self-test button").click()
    expect(page.locator("#counts")).to_be_visible(timeout=60_000)
    return page


def read_counts(page: Page) -> list[list[int]]:
    rows = page.locator("#counts tbody tr").all()
    return [[read_number(cell) for cell in row.locator("td").all_text_contents()] for row in rows]


def read_number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


@pytest.mark.parametrize(
    ("script", "verdict"), [("", "The counts are as promised."), (BIASED, "are not as promised.")]
)
def test_the_self_test_distinguishes_a_correct_generator_from_a_faulty_one(
    visitor: Visitor, script: str, verdict: str
) -> None:
    if script:
        visitor.context.add_init_script(script)
    page = run_test(visitor, make_launched_survey())
    expect(status(page)).to_contain_text(verdict)
    counts = read_counts(page)
    assert [row[:4] for row in counts] == [
        [2, 0, 0, 22_500],
        [2, 0, 1, 7_500],
        [2, 1, 0, 7_500],
        [2, 1, 1, 22_500],
    ]
    assert sum(row[4] for row in counts) == 60_000
    kept = counts[0][4] + counts[3][4]
    assert page.locator("#counts dt").all_inner_texts() == list(QUESTIONS)
    assert page.locator("#counts dd").all_inner_texts() == [
        f"Of 60,000 answers, {kept:,} stayed as they were. 45,000 were expected."
    ]
    expect(page.locator("#counts table")).to_be_hidden()
    expect(page.locator("progress")).to_be_hidden()


def test_the_self_test_has_a_line_for_each_way_of_scrambling(visitor: Visitor) -> None:
    visitor.context.add_init_script(NOTE_PROGRESS)
    page = run_test(visitor, make_branching_survey())
    assert page.evaluate("steps.length") > 10
    assert page.evaluate("steps.at(-1)") < 10_000, "milliseconds"
    questions = page.locator("#counts > dl > div").evaluate_all(
        "(rows) => rows.map((row) => [...row.querySelectorAll('dt')].map((one) => one.innerText))"
    )
    # These questions have 3, 2, 4 and 5 codes; "select several" is scrambled in two ways.
    assert questions == [[MOVED, THINGS, PAID], [THINGS], [LONELY, HOURS], [TIRED]]
    tested = {(row[0], row[1]) for row in read_counts(page)}
    assert tested == {(k, truth) for k in (2, 3, 4, 5) for truth in range(k)}


def test_the_single_file_page_works_without_a_network_and_its_report_is_handed_in(
    chromium: Browser, visitor: Visitor, tmp_path: Path
) -> None:
    wave = make_launched_survey()
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}/s/{wave.survey.slug}/check")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save this page as a file").click()
    file = tmp_path / "page.html"
    download.value.save_as(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    expect(page.get_by_text(digest)).to_be_visible()

    alone = chromium.new_context()
    alone.add_init_script(HASTE)
    errors: list[str] = []
    alone.on("weberror", lambda error: errors.append(str(error.error)))
    requests: list[str] = []
    alone.on("request", lambda request: requests.append(request.url))
    alone.set_offline(True)
    disk = alone.new_page()
    disk.goto(file.as_uri())
    submit(disk)
    expect(disk.get_by_role("heading", level=1)).to_have_text("Your code is ready")
    expect(status(disk)).to_contain_text(f"{settings.PUBLIC_URL}/s/{wave.survey.slug}/send")
    code = disk.locator("main code").first.inner_text()
    assert not [url for url in requests if not url.startswith(("file:", "data:"))]
    alone.grant_permissions(["clipboard-read", "clipboard-write"])
    press(disk, "Copy the code")
    expect(disk.get_by_text("The code was copied.")).to_be_visible()
    assert disk.evaluate("navigator.clipboard.readText()") == code
    disk.reload()
    expect(disk.locator("main code").first).to_have_text(code)  # the code was drawn only once
    letters = json.loads(code)["symbols"]
    disk.get_by_text("See exactly what your code contains").click()
    assert read_letters(disk.locator("details")) == dict(zip(QUESTIONS, letters, strict=True))
    assert read_picture(disk) in [write_picture(code, mask) for mask in range(8)]
    press(disk, "I have handed in my code. Delete it here.")
    expect(disk.locator("main code")).to_have_count(0)
    assert kept(disk) == [{"over": "sent"}]
    assert errors == []
    alone.close()

    hand_in(visitor, wave, code[:-1])
    for place in (".error-summary", "#error"):
        expect(page_of(visitor).locator(place)).to_contain_text("not one whole code")
    hand_in(visitor, wave, f"  {code}\n")
    thanks = page_of(visitor)
    for act in (lambda: None, thanks.reload):
        act()
        expect(thanks.get_by_role("heading", level=1)).to_have_text("Thank you")
    directly = visitor.context.new_page()
    directly.goto(thanks.url)
    expect(directly.get_by_role("heading", level=1)).to_have_text("Hand in your code")
    hand_in(visitor, wave, code)
    [report] = RawReport.objects.all()
    symbols = json.loads(code)["symbols"]
    assert bytes(report.symbols) == bytes("AB".index(symbol) for symbol in symbols)


def read_picture(page: Page) -> set[str]:
    """Return the positions of the dark modules in the QR code that the page shows."""
    picture = page.get_by_role("img", name="Your code as a QR code")
    path = picture.locator("path").get_attribute("d") or ""
    return set(re.findall(r"M(\d+ \d+)h1v1h-1z", path))


def write_picture(code: str, mask: int) -> set[str]:
    """Return the dark modules' positions by the standard, with a margin of four light modules."""
    rows = enumerate(draw_symbol(code, mask), start=4)
    return {f"{x} {y}" for y, row in rows for x, is_dark in enumerate(row, start=4) if is_dark}


def page_of(visitor: Visitor) -> Page:
    return visitor.context.pages[-1]


def hand_in(visitor: Visitor, wave: Wave, code: str) -> None:
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}/s/{wave.survey.slug}/send")
    page.get_by_label("Your code").fill(code)
    press(page, "Send")
