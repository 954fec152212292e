"""Charts in real Chromium: people request them, and no text covers another."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.exports.worker_files import find_recipe
from aggregator.models import Rendering
from aggregator.renderings.jobs import run_rendering
from surveys.authoring.services import add_question
from surveys.models import Survey, Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.browser.three_surveys import make_study
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_people
from tests.support.files.charts import make_file

LONG = "A long option about what people did on the way home after the party, " * 4 + "or not at all"
# Finds boxes of text that touch or cover another box, or that reach beyond the picture.
FIND_OVERLAPS = """() => {
    const svg = document.querySelector("svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const boxes = [...svg.querySelectorAll("text")].map((text) => {
        const { x, y, width, height } = text.getBBox();
        return { text: text.textContent, left: x, right: x + width, top: y, bottom: y + height };
    });
    const found = boxes
        .filter((box) => box.left < 0 || box.top < 0 || box.right > width || box.bottom > height)
        .map((box) => `outside: ${box.text}`);
    // Lines of one text may touch: the boxes of other scripts are higher than their letters.
    const apart = (one, other) => 0.3 * Math.min(one.bottom - one.top, other.bottom - other.top);
    boxes.forEach((one, place) => boxes.slice(place + 1).forEach((other) => {
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (wide > 0.1 && high > apart(one, other)) found.push(`${one.text} / ${other.text}`);
    }));
    return found;
}"""


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    wave = make_launched_survey(cap=1400, title="Two questions")
    return field(wave, yes=[490, 700], total=1400, ending=Wave.Ending.CAP)


def work() -> None:
    """Make all waiting files, as a worker does."""
    for rendering in Rendering.objects.all():
        run_rendering(rendering_id=rendering.pk, find_recipe=find_recipe)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_chart_is_chosen_on_the_data_page_and_downloaded_by_itself_when_it_is_made(
    chromium: Browser, live: LiveApplication, survey: Survey, size: dict[str, int]
) -> None:
    context = make_context(chromium, live, survey, viewport=size)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/data?chart=chart-q2#charts")
    form = page.locator("#charts form")
    expect(form.get_by_role("combobox", name="Chart")).to_have_value("chart-q2")
    form.get_by_role("combobox", name="Width").select_option("85")
    form.get_by_role("combobox", name="Axis").select_option("max")
    form.get_by_role("combobox", name="Format").select_option("pdf")
    form.get_by_role("button").click()
    expect(page.locator("h1")).to_have_text("Being prepared")
    assert page.url.endswith("/files/chart-q2.85mm.max.pdf")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert find_violations(page) == []
    reader.assert_nothing_went_wrong()
    with page.expect_download() as started:
        work()
    assert started.value.suggested_filename.endswith("_chart-q2.85mm.max.pdf")
    assert Path(started.value.path()).read_bytes().startswith(b"%PDF")
    context.close()


def test_without_a_worker_and_without_scripts_the_page_says_so_and_the_file_comes_later(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    context = make_context(chromium, live, survey, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/files/chart.180mm.png")
    expect(page.locator("#late")).to_have_count(0)
    expect(page.locator("#late")).to_contain_text("is not answering", timeout=20_000)
    with page.expect_download() as started:
        work()
    assert Path(started.value.path()).read_bytes().startswith(b"\x89PNG")
    context.close()


@pytest.fixture
def wordy(live: LiveApplication) -> Survey:
    """Make a survey with long texts, some of them in scripts other than Latin."""
    survey = make_survey(title="Wordy", questions=(), flips=5, cap=400)
    options = [
        f"{LONG}"[:300],
        "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüsselbrettbefestigung" * 3,
        "Разговаривали с соседями о погоде и ценах на рынке " * 3,
        "ذهبت إلى البيت بعد الحفلة مع أصدقائي " * 3,
        "晚会后和朋友们一起步行回家并讨论第二天的计划" * 4,
    ]
    add_question(survey=survey, text=f"What? {LONG}", type="choice", options=options, flips=5)
    add_question(
        survey=survey, text="How often?", type="scale", minimum=1, maximum=5, flips=5,
        low_label="Never at all, not even once in my life", high_label="Very often, every day",
    )  # fmt: skip
    wave = open_survey(survey=survey)
    send_people(wave, people=400)
    process(wave)
    return wave.survey


def show(page: Page, content: bytes) -> None:
    page.set_content(content.decode())


@pytest.mark.parametrize("width", [85, 180])
def test_no_text_of_a_chart_covers_another(
    chromium: Browser, live: LiveApplication, wordy: Survey, width: int
) -> None:
    page = chromium.new_page()
    for survey, name in ((wordy, "chart"), (make_study(), "chart"), (wordy, "chart-q1")):
        show(page, make_file(survey, f"{name}.{width}mm.svg"))
        assert page.evaluate(FIND_OVERLAPS) == [], (survey.title, name)
    page.close()
