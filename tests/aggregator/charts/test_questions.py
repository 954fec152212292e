"""Charts of the questions of a survey, as files."""

from __future__ import annotations

import re
import socket
import zlib
from typing import Any

import pytest

from aggregator.charts.questions import DASHED, EVERY_LOOK, FIXED_END, REHEARSAL, list_menu
from aggregator.renderings.recipes import NotRenderable
from aggregator.results.display import find_view
from aggregator.results.sentences import CAUTION_MARK
from aggregator.simulation.demo import field_demo
from aggregator.simulation.demo_surveys import REDBOOK
from surveys.authoring.services import add_question
from surveys.models import Question, Survey, Wave
from tests.aggregator.study_report.pdf_text import read_pages, squeeze
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.fielding import field, process, send_codes, send_people
from tests.support.files.charts import (
    SVG,
    exists,
    list_marks,
    list_texts,
    make_file,
    read_png_size,
    read_svg,
)

pytestmark = pytest.mark.django_db
LONG = "A long option about what people did on the way home after the party, " * 4 + "or not at all"
FREQUENCY: dict[str, Any] = {
    "minimum": 1,
    "maximum": 5,
    "low_label": "Never",
    "high_label": "Very often",
}


@pytest.fixture
def survey() -> Survey:
    wave = make_launched_survey(cap=1400, title="Two questions")
    return field(wave, yes=[490, 700], total=1400, ending=Wave.Ending.CAP)


def field_types() -> Survey:
    """Make a survey with a scale, a number, and a choice behind a rule that few people meet."""
    survey = make_survey(title="All types", questions=(), flips=40, cap=600)
    first = add_question(survey=survey, text="Have you ever worked while ill?", flips=40)
    rule = {"name": f"{first.pk}", "is": [1]}
    add_question(
        survey=survey, text="Who knew?", type="choice", options=["A colleague", "Nobody"],
        rule=rule, flips=45,
    )  # fmt: skip
    add_question(survey=survey, text="How often were you tired?", type="scale", **FREQUENCY)
    add_question(
        survey=survey, text="How many hours?", type="number", minimum=0, maximum=60, unit="hours",
        flips=5,
    )  # fmt: skip
    wave = open_survey(survey=survey)
    send_people(wave, people=600)
    process(wave)
    return wave.survey


def test_the_width_is_that_of_one_or_two_columns(survey: Survey) -> None:
    for millimetres in (85, 180):
        stem = f"chart.{millimetres}mm"
        root = read_svg(survey, f"{stem}.svg")
        assert root.get("width") == f"{millimetres}mm"
        points = millimetres * 72 / 25.4
        assert [float(side) for side in root.attrib["viewBox"].split()][2] == pytest.approx(
            points, abs=1e-3
        )
        width, _, dpi = read_png_size(make_file(survey, f"{stem}.png"))
        assert (width, round(dpi)) == (round(millimetres / 25.4 * 300), 300)
        pdf = make_file(survey, f"{stem}.pdf")
        box = re.search(rb"/MediaBox\s*\[\s*0\s+0\s+([0-9.]+)", pdf)
        assert box is not None
        assert float(box[1]) == pytest.approx(points, abs=0.01)


def test_the_pdf_has_every_text_and_is_accessible(survey: Survey) -> None:
    pdf = make_file(survey, "chart.180mm.pdf")
    (page,) = read_pages(pdf)
    for text in list_texts(read_svg(survey, "chart.180mm.svg")):
        assert squeeze(text) in squeeze(page)
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf


def test_the_fonts_are_in_the_pdf(survey: Survey) -> None:
    pdf = make_file(survey, "chart.180mm.pdf")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    unpacked = b"".join(_inflate(stream) for stream in streams) + pdf
    fonts = set(re.findall(rb"/FontName\s*/[A-Z]{6}\+([\w-]+)", unpacked))
    assert fonts == {b"LiberationSans", b"LiberationSans-Bold"}
    assert unpacked.count(b"/FontFile2") == len(fonts)


def _inflate(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_it_is_white_and_black_without_a_title_and_has_an_accessible_name(survey: Survey) -> None:
    root = read_svg(survey, "chart.180mm.svg")
    rect = root.find(f"{SVG}rect")
    assert rect is not None
    assert rect.get("fill") == "#ffffff"
    assert float(rect.attrib["x"]) < 0
    assert float(rect.attrib["width"]) > 510.236
    assert not any("Two questions" in text for text in list_texts(root))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert title.text == "Two questions: estimates with 95 % intervals"
    # S/n = .35 is shown as (.35 − .25)/.5 = 20 %.
    assert re.search(r"Yes: 20\s% \(\d+–\d+\)", description.text or "")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title description"


def test_letters_are_never_smaller_than_6_points(survey: Survey) -> None:
    for name in ("chart.85mm.svg", "chart.180mm.svg"):
        sizes = {
            float(text.attrib["font-size"]) for text in read_svg(survey, name).iter(f"{SVG}text")
        }
        assert min(sizes) >= 6


def test_questions_are_headings_and_options_are_rows_with_their_numbers() -> None:
    survey = field_types()
    texts = list_texts(read_svg(survey, "chart.180mm.svg"))
    assert texts.index("Q1 Have you ever worked while ill?") < texts.index("Yes")
    assert "1 (Never)" in texts
    assert "5 (Very often)" in texts
    # A mean has a separate scale, whose ends are written below it.
    assert {"Mean", "0", "60"} <= set(texts)
    assert any(re.fullmatch(r"\d+\s% \(\d+–\d+\)( †)?", text) for text in texts)
    assert not any("…" in text for text in texts)


def test_where_too_little_is_known_there_is_a_dashed_line_without_a_dot() -> None:
    survey = field_types()
    root = read_svg(survey, "chart-q2.180mm.svg")
    unknown = list_marks(root, "unknown")
    assert len(unknown) == 2
    assert all(
        line.get("stroke-dasharray") and line.get("stroke-width") == "0.50" for line in unknown
    )
    assert list_marks(root, "estimate") == []
    assert DASHED in list_texts(root)
    assert list_texts(root).count("too few answers") == 2


def test_what_needs_caution_has_an_open_dot_and_its_mark() -> None:
    survey = field(make_launched_survey(), yes=[100, 110], total=200)
    root = read_svg(survey, "chart.180mm.svg")
    marked = [text for text in list_texts(root) if text.endswith(f" {CAUTION_MARK}")]
    open_dots = [dot for dot in list_marks(root, "estimate") if dot.get("fill") == "#ffffff"]
    assert len(marked) == len(open_dots) > 0


def test_the_axis_can_end_at_the_largest_value(survey: Survey) -> None:
    def ends(name: str) -> tuple[str, float]:
        root = read_svg(survey, name)
        ticks = [text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "middle"]
        dots = [float(dot.attrib["cx"]) for dot in list_marks(root, "estimate")]
        return ticks[-2].text or "", max(dots)

    whole, cut = ends("chart-q1.180mm.svg"), ends("chart-q1.180mm.max.svg")
    assert (whole[0], cut[0]) == ("100", "30")
    assert cut[1] > whole[1]


def test_the_note_names_the_reports_and_the_kind_of_interval() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[40, 50], total=200)
    process(wave)
    notes = " ".join(list_texts(read_svg(wave.survey, "chart.180mm.svg")))
    assert f"190 randomized reports. {EVERY_LOOK}." in notes
    assert FIXED_END not in notes


def test_only_a_demo_shows_the_truth_and_only_a_rehearsal_says_what_it_is(survey: Survey) -> None:
    root = read_svg(survey, "chart.180mm.svg")
    assert list_marks(root, "truth") == []
    assert REHEARSAL not in list_texts(root)
    Survey.objects.filter(pk=survey.pk).update(rehearsal=True)
    survey.refresh_from_db()
    assert REHEARSAL in list_texts(read_svg(survey, "chart.180mm.svg"))


def test_a_demo_shows_its_truth() -> None:
    wave = field_demo(REDBOOK, owner=make_user())
    send_people(wave, people=300)
    process(wave)
    root = read_svg(wave.survey, "chart.180mm.svg")
    assert len(list_marks(root, "truth")) == 4


def test_a_question_without_any_figure_is_refused_with_a_sentence() -> None:
    survey = make_survey(title="A group", questions=("Have you?",))
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["Here", "There"],
    )
    wave = open_survey(survey=survey)
    send_people(wave, people=200)
    process(wave)
    with pytest.raises(NotRenderable, match="Q2: its groups are counted after"):
        make_file(wave.survey, "chart-q2.180mm.svg")
    # The chart of all questions says the same.
    assert any(
        "Counted after the survey" in text
        for text in list_texts(read_svg(wave.survey, "chart.180mm.svg"))
    )


@pytest.mark.parametrize("width", [85, 180])
def test_64_options_of_300_characters_fit(width: int) -> None:
    survey = make_survey(title="Many", questions=(), flips=5)
    options = [f"{number} {LONG}"[:300] for number in range(64)]
    add_question(survey=survey, text="What? " * 40, type="choice", options=options, flips=5)
    wave = open_survey(survey=survey)
    send_people(wave, people=400)
    process(wave)
    root = read_svg(wave.survey, f"chart-q1.{width}mm.svg")
    height = float(root.attrib["viewBox"].split()[3])
    joined = " ".join(list_texts(root))
    for option in options:
        assert " ".join(option.split()) in joined
    assert all(float(text.attrib["y"]) < height for text in root.iter(f"{SVG}text"))
    if width == 85:
        with pytest.raises(NotRenderable, match="too tall for a PNG"):
            make_file(wave.survey, "chart-q1.85mm.png")


def test_a_long_survey_makes_parts_that_fit_on_a_page() -> None:
    wave = make_launched_survey(
        questions=[f"Have you ever done thing number {n}?" for n in range(40)], flips=45
    )
    survey = field(wave, yes=[90] * 40, total=200)
    view = find_view(survey)
    assert view.results is not None
    menu = list_menu(view.results)
    stems = [stem for stem, _ in menu]
    parts = stems[: stems.index("chart-q1")]
    assert parts == ["chart", "chart-part2", "chart-part3"]
    assert menu[0][1].startswith("Q1 to ")
    headings = []
    for stem in parts:
        for width in (85, 180):
            root = read_svg(survey, f"{stem}.{width}mm.svg")
            assert float(root.attrib["height"].removesuffix("mm")) < 240
        headings += [text for text in list_texts(root) if text.startswith("Q")]
    assert len(headings) == 40
    assert not exists(survey, "chart-part4.85mm.svg")


@pytest.mark.parametrize("name", ["chart-q9.85mm.svg", "chart-part2.85mm.svg", "chart-x.85mm.svg"])
def test_a_question_or_part_that_does_not_exist_has_no_chart(survey: Survey, name: str) -> None:
    assert not exists(survey, name)


def test_a_letter_that_no_font_has_is_not_drawn_as_a_box() -> None:
    survey = field(make_launched_survey(questions=["Tibetan བོད?"]), yes=[80], total=200)
    for ending in ("pdf", "png"):
        with pytest.raises(NotRenderable, match="no font with the character “བ”"):
            make_file(survey, f"chart.180mm.{ending}")
    assert "Tibetan བོད?" in list_texts(read_svg(survey, "chart.180mm.svg"))


def test_text_is_escaped_and_drawn_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_launched_survey(questions=['<image href="http://example.org/a.png"/> & \u202e?'])
    survey = field(wave, yes=[80], total=200)

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for ending in ("svg", "pdf", "png"):
        content = make_file(survey, f"chart.180mm.{ending}")
        assert b"<image" not in content
    assert any("<image" in text for text in list_texts(read_svg(survey, "chart.180mm.svg")))
