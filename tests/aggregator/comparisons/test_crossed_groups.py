"""Comparisons that cross declared groups, or groups and random subsets, hide few people."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
import pytest

from aggregator.comparisons.crossed_groups import (
    FEW_ASKED,
    HIDDEN_GROUP,
    SMALL_CROSSING,
    TooFewToShow,
    check_crossings,
)
from aggregator.comparisons.standing import find_standing
from aggregator.models import Comparison, RawReport
from surveys.authoring.services import add_question, close_wave
from surveys.comparing.indicators import find_indicators
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question, Wave
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind
MINIMUM = 50


def make_wave(*, drawn: int | None = None) -> Wave:
    """Open a survey with two scrambled questions and two declared ones with three groups each."""
    survey = make_survey(questions=("Ill?", "Late?"), display_minimum=MINIMUM, drawn=drawn)
    for text in ("Where?", "When?"):
        options = [f"{text} {number}" for number in range(3)]
        add_question(survey=survey, type=Question.Type.DECLARED, text=text, options=options)
    return open_survey(survey=survey)


def close_with(wave: Wave, crossing: Sequence[Sequence[int]], *, drawn: int | None = None) -> None:
    """Send so many reports of each group of the first and the second declared question."""
    rows = [
        bytes([number % 2, number % 3 == 0, first, second])
        for first, line in enumerate(crossing)
        for second, people in enumerate(line)
        for number in range(people)
    ]
    if drawn is not None:  # the first question to so many of each group, the other to the rest
        rows = [
            bytes([row[0], NOT_DRAWN, *row[2:]])
            if number % len(rows) < drawn
            else bytes([NOT_DRAWN, *row[1:]])
            for number, row in enumerate(rows)
        ]
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=row) for row in rows
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    wave.refresh_from_db()


EVEN = [[60, 70, 80], [60, 70, 80], [60, 70, 80]]
HOLE = [[0, 120, 80], [60, 70, 80], [60, 70, 80]]
# Every pair of groups that a comparison could choose is large, except one.
ONE_SMALL = [[60, 70, 80], [60, 70, 80], [60, 70, 3]]


@pytest.mark.parametrize("crossing", [EVEN, HOLE])
def test_large_crossings_may_be_compared(crossing: list[list[int]]) -> None:
    wave = make_wave()
    close_with(wave, crossing)
    found = compute(ask(wave, Kind.REGRESSION, "q1", "q3.1", "q4.2"))
    assert found.result is not None, found.problem


@pytest.mark.parametrize(
    "names", [("q1", "q3.2", "q4.2"), ("q1", "q3.0", "q4.0"), ("q3.1", "q1", "q4.0")]
)
def test_no_comparison_shows_a_small_crossing_and_none_can_be_subtracted(
    names: tuple[str, ...],
) -> None:
    """The small cell is the rest when the other crossings are known, so these are refused too."""
    wave = make_wave()
    close_with(wave, ONE_SMALL)
    found = compute(ask(wave, Kind.REGRESSION, *names))
    assert found.state == Comparison.State.FAILED
    assert found.problem == SMALL_CROSSING.format(minimum=MINIMUM)


def test_one_declared_question_alone_may_still_be_compared() -> None:
    wave = make_wave()
    close_with(wave, ONE_SMALL)
    for kind, names in ((Kind.TABLE, ("q1", "q3.0")), (Kind.REGRESSION, ("q1", "q2", "q4.1"))):
        assert compute(ask(wave, kind, *names)).result is not None


def test_a_hidden_group_is_crossed_together_with_those_that_hide_it() -> None:
    wave = make_wave()
    close_with(wave, [[1, 1, 1], [60, 70, 80], [60, 70, 80]])
    # The first group is hidden together with the second; the third may be crossed.
    assert compute(ask(wave, Kind.REGRESSION, "q1", "q3.2", "q4.0")).result is not None
    found = compute(ask(wave, Kind.REGRESSION, "q1", "q3.1", "q4.0"))
    label = find_indicators(wave.description, ["q3.1"])[0].label
    assert found.problem == HIDDEN_GROUP.format(label=label)


@pytest.mark.parametrize(("asked", "is_shown"), [(300, True), (570, False)])
def test_groups_of_a_random_subset_are_compared_if_many_were_asked_and_many_were_not(
    asked: int, is_shown: bool
) -> None:
    wave = make_wave(drawn=1)
    # Everybody is in one group, of whom so many were asked the first question.
    close_with(wave, [[600, 0, 0], [0, 0, 0], [0, 0, 0]], drawn=asked)
    found = compute(ask(wave, Kind.TABLE, "q1", "q3.0"))
    assert (found.result is not None) == is_shown
    assert found.problem == ("" if is_shown else FEW_ASKED.format(minimum=MINIMUM))


def test_the_message_says_that_few_of_a_group_were_asked() -> None:
    wave = make_wave(drawn=1)
    [_, group] = indicators = find_indicators(wave.description, ["q1", "q3.0"])
    assert group.is_known
    enough = np.array([[60, 70, 80], [60, 70, 80]])
    check_crossings(enough, indicators, minimum=MINIMUM)
    few_not_asked = np.array([[3, 70, 80], [117, 70, 80]])
    with pytest.raises(TooFewToShow) as refused:
        check_crossings(few_not_asked, indicators, minimum=MINIMUM)
    assert str(refused.value) == FEW_ASKED.format(minimum=MINIMUM)


def test_a_crossing_that_an_earlier_version_computed_is_computed_again_and_refused() -> None:
    wave = make_wave()
    close_with(wave, EVEN)
    stored = compute(ask(wave, Kind.REGRESSION, "q1", "q3.2", "q4.2"))
    assert find_standing(stored).result is not None
    Comparison.objects.filter(pk=stored.pk).update(method_version=6)
    stored.refresh_from_db()
    assert find_standing(stored).result is None
    stored.refresh_from_db()
    assert stored.state == Comparison.State.WAITING
    assert find_standing(compute(stored)).result is not None


def test_a_group_of_nobody_is_counted_but_not_compared() -> None:
    wave = make_wave()
    close_with(wave, [[60, 70, 80], [0, 0, 0], [60, 70, 80]])
    found = compute(ask(wave, Kind.TABLE, "q1", "q3.1"))
    label = find_indicators(wave.description, ["q3.1"])[0].label
    assert found.problem == HIDDEN_GROUP.format(label=label)
    assert compute(ask(wave, Kind.TABLE, "q1", "q3.0")).result is not None
