"""Comparisons are requested once per snapshot, computed by one worker, and kept."""

from __future__ import annotations

import re
from datetime import timedelta
from math import inf

import numpy as np
import pytest
from django.db import OperationalError
from django.utils import timezone

from aggregator.comparisons import jobs
from aggregator.comparisons.analysis import find_level
from aggregator.comparisons.choice import (
    NO_PAIR,
)
from aggregator.comparisons.jobs import (
    GAVE_UP,
    NOT_SETTLED,
    find_comparisons_to_run,
    run_comparison,
)
from aggregator.comparisons.result import RegressionResult, StoredResult, Together
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.regression_sentences import (
    NOTHING_SHOWN,
    summarize_terms,
    write_terms,
)
from aggregator.models import Comparison
from aggregator.results.sentences import TOO_FEW
from aggregator.results.snapshots import METHOD_VERSION
from privacy.associations.maximum_likelihood import NotSettledError
from privacy.associations.tables import Variable
from privacy.associations.two_questions import associate
from surveys.comparing.choice import (
    DIFFERENT_QUESTIONS,
    MAX_PREDICTORS,
    NO_PREDICTOR,
    OUTCOME_AS_PREDICTOR,
    TOO_MANY_PREDICTORS,
    TWO_QUESTIONS,
    UNKNOWN_QUESTION,
    NotComparable,
)
from surveys.leases import MAX_ATTEMPTS
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.comparisons import ask, compute, list_times, make_answered_wave, snapshot_of
from tests.support.fielding import process
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind


def test_two_questions_are_compared_over_all_batches() -> None:
    wave = make_answered_wave()
    assert wave.batches.count() >= 2
    found = compute(ask(wave, Kind.TABLE, "q2", "q1"))
    assert found.state == Comparison.State.DONE
    assert found.batches_counted == wave.batches.count()
    assert found.result is not None
    counts = np.array(found.result["counts"])
    assert counts.sum() == found.result["n"] == 600
    singles = snapshot_of(wave).counts
    assert counts.sum(axis=1).tolist() == singles[1]
    assert counts.sum(axis=0).tolist() == singles[0]
    mechanism = wave.description.questions[0].mechanism
    again = associate(
        counts=counts,
        variables=[Variable.plain(mechanism)] * 2,
        event=1,
        first=1,
        second=0,
        level=find_level(Together(family=1, looks=1), list_times(wave)),
    )
    assert found.result["together"] == {"family": 1, "looks": len(list_times(wave))}
    assert found.result["difference"]["raw"] == pytest.approx(again.difference.raw)
    assert found.result["difference"]["low"] == pytest.approx(again.difference.low)


def test_an_outcome_is_regressed_on_its_predictors() -> None:
    found = compute(ask(make_answered_wave(people=4000), Kind.REGRESSION, "q1", "q2", "q3"))
    assert found.state == Comparison.State.DONE, found.problem
    assert found.result is not None
    assert [term["name"] for term in found.result["terms"]] == ["intercept", "q2=1", "q3=1"]
    assert found.result["cells"] == 8
    for term in found.result["terms"][1:]:
        assert term["low"] < term["coefficient"] < term["high"]
        assert term["adjusted"]["difference"]["low"] < term["adjusted"]["difference"]["estimate"]


def test_all_pairs_are_correlated_with_adjusted_p_values() -> None:
    wave = make_answered_wave(questions=4)
    found = compute(ask(wave, Kind.PAIRS))
    assert found.result is not None
    pairs = found.result["pairs"]
    assert [pair["questions"] for pair in pairs] == [
        ["q1", "q2"], ["q1", "q3"], ["q1", "q4"], ["q2", "q3"], ["q2", "q4"], ["q3", "q4"]
    ]  # fmt: skip
    table = compute(ask(wave, Kind.TABLE, "q1", "q3")).result
    assert table is not None
    # The p-values of Pearson's test and of the likelihood-ratio test are close.
    assert pairs[1]["p_value"] == pytest.approx(table["test"]["p_value"], rel=0.01)
    assert pairs[1]["method"] == "pearson"
    assert pairs[1]["together"] == (table["phi"]["estimate"] > 0)


def test_the_same_choice_is_the_same_comparison_until_a_batch_is_sealed() -> None:
    wave = make_answered_wave()
    first = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    assert ask(wave, Kind.TABLE, "q1", "q2") == first
    assert ask(wave, Kind.TABLE, "q2", "q1") != first
    assert not find_comparisons_to_run().filter(pk=first.pk).exists()
    assert not run_comparison(comparison_id=first.pk)  # a late task changes nothing


@pytest.mark.parametrize(
    ("kind", "names", "advice"),
    [
        (Kind.TABLE, ["q1"], TWO_QUESTIONS),
        (Kind.TABLE, ["q1", "q1"], DIFFERENT_QUESTIONS),
        (Kind.TABLE, ["q1", "q99"], UNKNOWN_QUESTION),
        (Kind.REGRESSION, ["q1"], NO_PREDICTOR),
        (Kind.REGRESSION, ["q1", "q2", "q1"], OUTCOME_AS_PREDICTOR),
        (Kind.REGRESSION, [f"q{n}" for n in range(1, MAX_PREDICTORS + 3)], TOO_MANY_PREDICTORS),
    ],
)
def test_a_choice_that_cannot_be_compared_is_refused(
    kind: Comparison.Kind, names: list[str], advice: str
) -> None:
    wave = make_answered_wave(people=60, questions=10)
    with pytest.raises(NotComparable, match=re.escape(advice)):
        ask(wave, kind, *names)
    assert not Comparison.objects.exists()


def test_a_single_question_cannot_be_compared() -> None:
    wave = make_answered_wave(people=60, questions=1)
    with pytest.raises(NotComparable, match=re.escape(NO_PAIR)):
        ask(wave, Kind.PAIRS)


def test_two_workers_at_once_compute_a_comparison_once() -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    Comparison.objects.filter(pk=found.pk).update(
        state=Comparison.State.RUNNING, leased_until=timezone.now() + timedelta(minutes=1)
    )
    assert not run_comparison(comparison_id=found.pk)
    assert not find_comparisons_to_run().exists()


def test_a_worker_that_died_is_replaced_when_its_lease_ends() -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    Comparison.objects.filter(pk=found.pk).update(
        state=Comparison.State.RUNNING, leased_until=timezone.now() - timedelta(seconds=1)
    )
    assert list(find_comparisons_to_run()) == [found]
    assert compute(found).state == Comparison.State.DONE


def test_a_lease_from_before_the_clock_was_set_back_has_ended() -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    Comparison.objects.filter(pk=found.pk).update(
        state=Comparison.State.RUNNING, leased_until=timezone.now() + timedelta(hours=2)
    )
    assert list(find_comparisons_to_run()) == [found]
    assert compute(found).state == Comparison.State.DONE


def fail(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def compute(_: Comparison) -> StoredResult:
        raise error

    monkeypatch.setattr(jobs, "_compute", compute)


def let_the_pause_pass() -> None:
    Comparison.objects.update(leased_until=timezone.now() - timedelta(seconds=1))


def test_a_comparison_is_retried_after_a_temporary_failure_and_a_pause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    with monkeypatch.context() as patch:
        fail(patch, OperationalError("database is locked"))
        assert compute(found).state == Comparison.State.WAITING
        assert not run_comparison(comparison_id=found.pk)  # no second attempt follows at once
    assert "database is locked" in caplog.text
    let_the_pause_pass()
    assert compute(found).state == Comparison.State.DONE


def test_a_comparison_that_keeps_failing_is_abandoned_until_it_is_requested_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = make_answered_wave()
    found = ask(wave, Kind.TABLE, "q1", "q2")
    with monkeypatch.context() as patch:
        # A fault in our code reveals nothing about the data, whatever the type of the exception.
        fail(patch, np.linalg.LinAlgError("SVD did not converge"))
        for _ in range(MAX_ATTEMPTS):
            assert compute(found).state == Comparison.State.WAITING
            let_the_pause_pass()
        found = compute(found)
    assert (found.state, found.problem) == (Comparison.State.FAILED, GAVE_UP)
    again = ask(wave, Kind.TABLE, "q1", "q2")
    assert again == found
    assert compute(again).state == Comparison.State.DONE


def test_an_estimation_that_does_not_converge_is_final_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    fail(monkeypatch, NotSettledError("EM did not converge"))
    found = compute(found)
    assert (found.state, found.problem) == (Comparison.State.FAILED, NOT_SETTLED)


def test_a_worker_past_its_lease_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    real = jobs._compute

    def overtaken(comparison: Comparison) -> StoredResult:
        # While the first worker computes, its lease expires and a second worker finishes.
        let_the_pause_pass()
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "_compute", real)
            assert run_comparison(comparison_id=found.pk)
        raise OperationalError("gone")

    monkeypatch.setattr(jobs, "_compute", overtaken)
    found = compute(found)
    assert found.state == Comparison.State.DONE
    assert found.result is not None


def test_deleting_a_row_while_it_is_computed_is_not_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = ask(make_answered_wave(), Kind.TABLE, "q1", "q2")
    real = jobs._compute

    def deleted(comparison: Comparison) -> StoredResult:
        Comparison.objects.all().delete()
        return real(comparison)

    monkeypatch.setattr(jobs, "_compute", deleted)
    assert run_comparison(comparison_id=found.pk)
    assert not Comparison.objects.exists()


def test_a_comparison_of_an_older_method_is_neither_shown_nor_computed() -> None:
    wave = make_answered_wave(cap=600, ending=Wave.Ending.CAP)
    done = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    waiting = ask(wave, Kind.TABLE, "q1", "q3")
    Comparison.objects.update(method_version=METHOD_VERSION - 1)
    done.refresh_from_db()
    standing = find_standing(done)
    assert not standing.fixed_end
    assert not standing.is_newest
    assert run_comparison(comparison_id=waiting.pk)
    assert not Comparison.objects.filter(pk=waiting.pk).exists()


def test_codes_that_no_answers_can_have_produced_are_reported() -> None:
    wave = make_wave(questions=2, cap=200)
    send_many(wave, [bytes([i % 2, 1 - i % 2]) for i in range(200)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    process(wave)
    wave.refresh_from_db()
    # Each question alone is plausible; only their combination is impossible.
    assert not any(row["alarm"] for row in snapshot_of(wave).estimates)
    for kind, names in ((Kind.TABLE, ["q1", "q2"]), (Kind.PAIRS, [])):
        found = compute(ask(wave, kind, *names))
        assert found.result is not None
        assert found.result["contradiction"]
        standing = find_standing(found)
        assert standing.is_impossible
        assert standing.alarms == ()


@pytest.mark.parametrize("ending", [Wave.Ending.CAP, Wave.Ending.OWNER])
def test_only_after_a_fixed_end_is_a_comparison_tested_for_one_look(ending: Wave.Ending) -> None:
    wave = make_answered_wave(people=600, cap=600, ending=ending)
    found = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    assert found.result is not None
    assert not find_standing(found).is_impossible
    found.result["contradiction"]["after_fixed_end"] = True
    assert find_standing(found).is_impossible == (ending == Wave.Ending.CAP)


def test_an_alarm_is_passed_on_to_the_comparisons_of_its_question() -> None:
    wave = make_wave(questions=3)
    send_many(wave, [bytes([1, i % 2, i // 2 % 2]) for i in range(200)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    wave.refresh_from_db()
    alarms = {
        names: find_standing(compute(ask(wave, Kind.TABLE, *names))).alarms
        for names in (("q1", "q2"), ("q2", "q3"))
    }
    assert alarms == {("q1", "q2"): ("q1",), ("q2", "q3"): ()}
    assert find_standing(compute(ask(wave, Kind.PAIRS))).alarms == ("q1",)


def test_reports_that_do_not_determine_an_effect_show_none() -> None:
    wave = make_wave(questions=2)
    send_many(wave, [bytes([1, i % 2]) for i in range(60)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    result = find_standing(compute(ask(wave, Kind.REGRESSION, "q1", "q2"))).result
    assert isinstance(result, RegressionResult)
    assert result.terms[0].coefficient == inf
    lines = write_terms(result, wave.description)
    assert [line.sentence for line in lines] == [TOO_FEW]
    assert summarize_terms(lines) == NOTHING_SHOWN


def test_a_comparison_is_reliable_only_after_a_fixed_end() -> None:
    early = make_answered_wave()
    assert not find_standing(ask(early, Kind.TABLE, "q1", "q2")).fixed_end
    frozen = make_answered_wave(people=600, cap=600, ending=Wave.Ending.CAP)
    standing = find_standing(ask(frozen, Kind.TABLE, "q1", "q2"))
    assert standing.fixed_end
    assert standing.is_newest
    old = Comparison.objects.create(
        wave=frozen, through_batch=1, method_version=2, kind=Kind.TABLE, names=["q1", "q2"]
    )
    standing = find_standing(old)
    assert not standing.fixed_end
    assert not standing.is_newest


def test_only_the_newest_comparisons_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "KEPT_PER_WAVE", 2)
    wave = make_answered_wave()
    waiting = ask(wave, Kind.TABLE, "q1", "q2")
    old = compute(ask(wave, Kind.TABLE, "q2", "q1"))
    new = [ask(wave, Kind.TABLE, *names) for names in (("q1", "q3"), ("q2", "q3"))]
    assert old not in Comparison.objects.all()
    # Comparisons that are still waiting are kept.
    assert set(Comparison.objects.all()) == {waiting, *new}


def test_while_the_survey_is_open_an_interval_holds_for_all_looks_until_then() -> None:
    wave = make_wave(questions=2)
    levels = []
    for _ in range(2):
        send_many(wave, [bytes([number % 2, number % 3 == 0]) for number in range(300)])
        process(wave)
        looks = [n for n in snapshot_of(wave).totals if n >= wave.crowd]
        times = [n / wave.description.people_for_looks for n in looks]
        found = compute(ask(wave, Kind.TABLE, "q1", "q2")).result
        assert found is not None
        assert found["together"] == {"family": 1, "looks": len(looks)}
        level = find_level(Together(family=1, looks=len(looks)), times)
        assert {found[figure]["level"] for figure in ("share_first", "difference", "phi")} == {
            level
        }
        levels.append(level)
    assert levels[0] > levels[1] > 0.95  # early looks may spend less
    with pytest.raises(NotComparable, match="only once the survey has closed"):
        ask(wave, Kind.PAIRS)
