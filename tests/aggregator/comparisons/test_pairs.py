"""All pairs of questions in a survey with every type, from the worker to the page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from aggregator.comparisons import analysis
from aggregator.comparisons.analysis import BY_RULE, UNSETTLED
from aggregator.comparisons.choice import CHOOSE_FIRST
from aggregator.comparisons.result import PairsResult
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.all_pairs_sentences import describe_pairs_left_out, write_pairs
from aggregator.models import Comparison
from privacy.associations.maximum_likelihood import NotSettledError
from privacy.associations.significance import SignificanceTest, independence_test
from surveys.comparing.choice import NotComparable, check_planned
from surveys.comparing.pairs import list_pair_indicators
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.breakdowns.waves import field_people, make_grouped_survey
from tests.support.comparisons import ask, compute, make_answered_wave
from tests.support.factories import open_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Kind = Comparison.Kind


def test_all_pairs_cover_every_type_and_say_what_they_leave_out() -> None:
    """Q1 asks for the group, Q2 decides whether Q3 is asked, Q5 is a number, Q7 has a follow-up."""
    wave = field_people(open_survey(survey=make_grouped_survey()), people=900)
    manifest = wave.description
    names = [one.name for one in list_pair_indicators(manifest)]
    assert names == [
        "q1.all", "q2", "q3.all", "q4.all", "q5", "q6.1", "q6.2", "q6.3", "q7.yes", "q7.follow_up"
    ]  # fmt: skip
    comparison = compute(ask(wave, Kind.PAIRS))
    result = find_standing(comparison).result
    assert isinstance(result, PairsResult), comparison.problem
    assert {(one.indicators, one.reason) for one in result.untested} == {
        (("q2", "q3.all"), BY_RULE)
    }
    tested = {pair.indicators: pair for pair in result.pairs}
    # All pairs are tested except the one above and the two parts of the follow-up question.
    assert len(tested) == 45 - 1 - 1
    # The test on each line agrees with the comparison that the line offers.
    for line in write_pairs(result, manifest):
        if line.request and (line.first.name, line.second.name) in (
            ("q2", "q6.1"), ("q5", "q2"), ("q6.1", "q6.2"), ("q2", "q7.yes")
        ):  # fmt: skip
            chosen = [name for field, name in line.request.items() if field != "kind"]
            check_planned(manifest=manifest, names=chosen)
            found = compute(ask(wave, Kind.TABLE, *chosen)).result
            assert found is not None
            pair = tested[line.first.name, line.second.name]
            assert found["test"]["p_value"] == pytest.approx(pair.p_value, abs=1e-9)
    client = sign_in(wave.survey.owner)
    page = client.get(reverse("aggregator:comparison", args=[wave.survey.slug, comparison.pk]))
    words = text_of(page)
    assert "None of 43 tested pairs is clearly related." in words
    assert "because one answer decides whether the other question is asked: Q2 and Q3" in words
    assert "Download the chart" in words


def test_pairs_with_groups_wait_for_the_choice_of_the_background() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_people(wave, people=300)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=False)
    with pytest.raises(NotComparable, match=CHOOSE_FIRST[:40]):
        ask(wave, Kind.PAIRS)


def test_a_pair_that_does_not_converge_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_answered_wave(questions=4)
    tables: list[object] = []

    def fail_once(**table: object) -> SignificanceTest:
        tables.append(table)
        if len(tables) == 2:
            raise NotSettledError
        return independence_test(**table)  # type: ignore[arg-type]

    monkeypatch.setattr(analysis, "independence_test", fail_once)
    result = find_standing(compute(ask(wave, Kind.PAIRS))).result
    assert isinstance(result, PairsResult)
    assert len(result.pairs) == 5
    assert [one.reason for one in result.untested] == [UNSETTLED]
    assert "did not converge: Q1 and Q3" in describe_pairs_left_out(result, wave.description)
