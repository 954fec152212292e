"""Charts of comparisons: two groups and their difference, odds ratios, and breakdowns."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from aggregator.charts.comparisons import (
    EXPLORATORY,
    MOST_PAIRS,
    PLANNED,
    list_breakdown_menu,
    make_comparison_figure,
)
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.comparisons.sentences import write_p_value
from aggregator.comparisons.standing import find_standing
from aggregator.models import Comparison
from aggregator.renderings.recipes import NotRenderable
from aggregator.results.display import find_view
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people
from tests.support.files.charts import exists, list_marks, list_texts, make_file, read_svg

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind


@pytest.fixture
def survey() -> Survey:
    """Make a closed survey with three yes/no questions, a number and a declared question."""
    survey = make_survey(title="Wards", questions=(), cap=2000)
    for text in ("Have you felt unsafe?", "Have you worked while ill?", "Have you slept badly?"):
        add_question(survey=survey, text=text, flips=5)
    add_question(
        survey=survey,
        text="How many nights?",
        type="number",
        minimum=0,
        maximum=30,
        unit="nights",
        flips=5,
    )
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["Ward", "Office"],
    )
    wave = open_survey(survey=survey)
    send_people(wave, people=2000)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    process(wave)
    return wave.survey


def compare(survey: Survey, kind: Comparison.Kind, *names: str) -> Comparison:
    results = find_view(survey).results
    assert results is not None
    comparison = request_comparison(
        wave=results.wave, snapshot=results.snapshot, kind=kind, names=list(names)
    )
    run_comparison(comparison_id=comparison.pk)
    comparison.refresh_from_db()
    assert comparison.state == Comparison.State.DONE, comparison.problem
    return comparison


def test_two_questions_show_both_groups_and_their_difference(survey: Survey) -> None:
    pk = compare(survey, Kind.TABLE, "q1", "q2").pk
    root = read_svg(survey, f"comparison-{pk}.180mm.svg")
    texts = list_texts(root)
    assert texts[0] == "Q1 Have you felt unsafe?"
    assert texts[1] == "“Yes”, by Q2 Have you worked while ill?"
    assert {"Share (%)", "Difference (percentage points)", "Difference"} <= set(texts)
    assert len(list_marks(root, "estimate")) == len(list_marks(root, "interval")) == 3
    assert f"2,000 randomized reports. {EXPLORATORY} Lines are 95 % intervals." in texts


def test_a_planned_comparison_says_so(survey: Survey) -> None:
    comparison = compare(survey, Kind.TABLE, "q1", "q2")
    standing = replace(find_standing(comparison), planned=1)
    figure = make_comparison_figure(comparison, standing, ends_at_data=False)
    assert figure is not None
    assert standing.fixed_end
    assert PLANNED in figure.footnotes[0]
    before = replace(standing, planned=0)
    figure = make_comparison_figure(comparison, before, ends_at_data=False)
    assert figure is not None
    assert EXPLORATORY in figure.footnotes[0]


def test_reports_that_contradict_the_design_have_no_chart(survey: Survey) -> None:
    comparison = compare(survey, Kind.TABLE, "q1", "q2")
    standing = replace(find_standing(comparison), alarms=("q1",))
    with pytest.raises(NotRenderable):
        make_comparison_figure(comparison, standing, ends_at_data=False)


def test_means_are_compared_on_the_scale_of_the_question(survey: Survey) -> None:
    pk = compare(survey, Kind.TABLE, "q4", "q2").pk
    texts = list_texts(read_svg(survey, f"comparison-{pk}.85mm.svg"))
    assert {"Mean (nights)", "Difference (nights)", "30"} <= set(texts)
    assert "Share (%)" not in texts


def test_a_regression_is_a_forest_plot_on_a_logarithmic_axis(survey: Survey) -> None:
    pk = compare(survey, Kind.REGRESSION, "q1", "q2", "q3").pk
    root = read_svg(survey, f"comparison-{pk}.180mm.svg")
    texts = list_texts(root)
    assert "Odds ratio (logarithmic axis)" in texts
    assert "Q2 Have you worked while ill? Yes" in texts
    assert len(list_marks(root, "estimate")) == 2  # the base odds are left out
    assert (
        sum(bool(re.fullmatch(r"\d+\.\d\d \(\d+\.\d\d–\d+\.\d\d\)", text)) for text in texts) == 2
    )
    for ending in ("pdf", "png"):
        assert make_file(survey, f"comparison-{pk}.85mm.{ending}")


def test_all_pairs_are_dots_of_p_values_with_the_smallest_first(survey: Survey) -> None:
    comparison = compare(survey, Kind.PAIRS)
    root = read_svg(survey, f"comparison-{comparison.pk}.180mm.svg")
    assert comparison.result is not None
    tested = sorted(comparison.result["pairs"], key=lambda pair: pair["adjusted_p_value"])
    shown = [text for text in list_texts(root) if text.startswith("p ") and text[2] in "=<"]
    assert len(shown) == len(list_marks(root, "estimate")) == min(len(tested), MOST_PAIRS)
    assert shown[0].removeprefix("p ").removeprefix("= ") == write_p_value(
        tested[0]["adjusted_p_value"]
    )


def test_a_break_down_shows_groups_side_by_side(survey: Survey) -> None:
    comparison = compare(survey, Kind.BREAKDOWN, "q5")
    menu = list_breakdown_menu(comparison, find_standing(comparison))
    stem = f"comparison-{comparison.pk}"
    assert menu[0] == (stem, "All questions")
    assert menu[1] == (f"{stem}-q1", "Q1 Have you felt unsafe?")
    for chart, _ in menu:
        root = read_svg(survey, f"{chart}.180mm.max.svg")
        texts = list_texts(root)
        assert texts.count("Ward") == texts.count("Office") > 0
        assert len(list_marks(root, "estimate")) + len(
            list_marks(root, "unknown")
        ) == 2 * texts.count("Ward")
        assert any(
            text.startswith("Groups of Q5 “Where do you work?”: Ward (n = ") for text in texts
        )
    assert not exists(survey, f"{stem}-q5.180mm.svg")  # Q5 is the question that defines the groups
    for part in ("part1", "part2", "partx", "q9"):
        assert not exists(survey, f"{stem}-{part}.180mm.svg")


def test_a_comparison_of_another_survey_has_no_chart_here(survey: Survey) -> None:
    comparison = compare(survey, Kind.TABLE, "q1", "q2")
    other = make_survey(title="Another")
    wave = open_survey(survey=other)
    send_people(wave, people=200)
    process(wave)
    assert exists(survey, f"comparison-{comparison.pk}.180mm.svg")
    assert not exists(other, f"comparison-{comparison.pk}.180mm.svg")
    Comparison.objects.update(state=Comparison.State.WAITING, result=None)
    assert not exists(survey, f"comparison-{comparison.pk}.180mm.svg")
