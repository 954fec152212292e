"""Figures of a release as rows: every kind of question, and what readers are told."""

from __future__ import annotations

import pytest

from aggregator.publishing.rows import (
    CONTRADICTING,
    PREFERS,
    ShownFigures,
    ShownQuestion,
    list_figures,
)
from aggregator.releases.figures import read_figures
from aggregator.results.blocks import RowKind
from surveys.axis import Axis
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind
from surveys.models import Survey, Wave
from surveys.releasing.noise import list_symbols
from tests.support.breakdowns.waves import make_grouped_survey
from tests.support.factories import open_survey
from tests.support.releases.stored import finish, plan

pytestmark = pytest.mark.django_db
Kind = ReleaseKind


@pytest.fixture
def wave() -> Wave:
    survey = make_grouped_survey(
        publication=Publication.PROTECTED, release_epsilon_hundredths=300, minimum_batch=10
    )
    Survey.objects.filter(pk=survey.pk).update(rehearsal=True)
    survey.refresh_from_db()
    return open_survey(survey=survey)


def show(wave: Wave, *questions: str, people: int = 2000) -> ShownFigures:
    """Show the figures of a release without noise in which all codes are equally frequent."""
    release = plan(wave.description, *questions, epsilon=300)
    symbols = list_symbols(wave.description, questions)
    cells = {symbol.name: [people // symbol.k] * symbol.k for symbol in symbols}
    return list_figures(read_figures(finish(release, {"cells": cells}), wave.description))


def only(figures: ShownFigures) -> ShownQuestion:
    (found,) = figures.questions
    return found


def test_a_choice_has_a_row_for_each_answer_on_one_axis(wave: Wave) -> None:
    shown = only(show(wave, "q4", people=3000))
    assert [one.row.label for one in shown.rows] == ["Money", "Fear", "Duty"]
    assert {one.row.number for one in shown.rows} == {"33\N{NO-BREAK SPACE}%"}
    assert all(one.row.kind is RowKind.SHARE for one in shown.rows)
    assert all(one.spread.total.startswith("± ") for one in shown.rows)


def test_words_of_murmur_are_not_in_the_language_of_the_survey(wave: Wave) -> None:
    shown = only(show(wave, "q3", people=3000))
    by_label = {one.row.label: one.row for one in shown.rows}
    assert not by_label["Not asked"].is_in_survey_language
    assert by_label["1 (Never)"].is_in_survey_language


def test_a_number_has_its_mean_in_its_unit(wave: Wave) -> None:
    (shown,) = only(show(wave, "q5")).rows
    assert shown.row.is_mean
    assert shown.row.number == "15.0 days"
    assert shown.row.axis == Axis(least=0, greatest=30, ends=("0", "30"))
    low, high = shown.row.range.split("–")
    assert float(low) < 15 < float(high)
    half = float(shown.spread.total.removeprefix("± ").removesuffix(" days"))
    assert half == pytest.approx((float(high) - float(low)) / 2, abs=0.1)


def test_several_answers_are_possible_where_there_are_items(wave: Wave) -> None:
    shown = only(show(wave, "q6"))
    assert "More than one answer possible." in shown.note
    assert [one.row.label for one in shown.rows][:3] == ["Boss", "Doctor", "Nobody"]


def test_too_few_people_have_no_row_but_the_number_that_it_takes(wave: Wave) -> None:
    shown = only(show(wave, "q4", people=3))
    assert shown.rows == ()
    assert shown.widest is None
    assert "Too few people" in shown.note


def test_the_widest_interval_of_a_share_stands_for_all(wave: Wave) -> None:
    shown = only(show(wave, "q3", people=3000))
    widths = {one.spread: (one.row.high or 0) - (one.row.low or 0) for one in shown.rows}
    assert shown.widest is not None
    assert widths[shown.widest] == max(widths.values())


def test_counts_that_no_share_explains_are_warned_of(wave: Wave) -> None:
    release = finish(plan(wave.description, "q4", epsilon=300), {"cells": {"q4": [3000, 0, 0]}})
    shown = only(list_figures(read_figures(release, wave.description)))
    assert shown.warning == CONTRADICTING


def test_a_choice_by_chance_says_how_far_it_may_be_off(wave: Wave) -> None:
    leader = plan(wave.description, "q4", kind=Kind.LEADER, epsilon=50)
    shown = only(list_figures(read_figures(finish(leader, {"code": 2}), wave.description)))
    assert (shown.chosen_as, shown.chosen) == ("Named as leading:", "Duty")
    # (ln 3 + ln 20) / .5 = 8.19 reports, and d = .4
    noise = "with 95 % probability, no answer is more than 21 people ahead of this one"
    assert noise in shown.limits
    assert "Scrambling and chance add to this" in shown.limits
    median = plan(wave.description, "q3", kind=Kind.MEDIAN, epsilon=50)
    shown = only(list_figures(read_figures(finish(median, {"code": 3}), wave.description)))
    assert (shown.chosen_as, shown.chosen) == ("Named as median:", "4 (Always)")
    assert shown.note == "On a scale from 1 (Never) to 4 (Always)."
    assert "this is the median, or would be if at most" in shown.limits
    median.kind = median.request["kind"] = Kind.TYPICAL
    shown = only(list_figures(read_figures(median, wave.description)))
    assert (shown.chosen_as, shown.limits) == ("Named as typical:", PREFERS)
