"""A breakdown as a job: refusals, the death of its worker, and what verification finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aggregator.comparisons.choice import CHOOSE_FIRST, GROUPS_AFTER_CLOSE, NOT_DECLARED
from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.comparisons.standing import find_standing
from aggregator.models import Comparison, Snapshot
from aggregator.upkeep.verification.differences import Difference
from aggregator.upkeep.verification.run import Verification
from surveys.comparing.choice import NotComparable
from surveys.leases import Queue
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.breakdowns.waves import break_down, make_closed_wave, make_grouped_survey
from tests.support.comparisons import ask, compute
from tests.support.deaths import Killed
from tests.support.factories import open_survey
from tests.support.fielding import process, send_people

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind


@pytest.mark.parametrize("names", [(), ("q2",), ("q1.0",), ("q9",), ("q1", "q2")])
def test_only_one_declared_question_can_break_results_down(names: tuple[str, ...]) -> None:
    wave = make_closed_wave()
    with pytest.raises(NotComparable) as refused:
        ask(wave, Kind.BREAKDOWN, *names)
    assert str(refused.value) == NOT_DECLARED


def test_nothing_is_broken_down_while_the_survey_is_open() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_people(wave, people=300)
    process(wave)
    with pytest.raises(NotComparable) as refused:
        ask(wave, Kind.BREAKDOWN, "q1")
    assert str(refused.value) == GROUPS_AFTER_CLOSE


def test_nothing_is_broken_down_before_the_choice_of_the_background() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_people(wave, people=300)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=False)
    with pytest.raises(NotComparable) as refused:
        ask(wave, Kind.BREAKDOWN, "q1")
    assert str(refused.value) == CHOOSE_FIRST


@pytest.mark.parametrize("moment", [0, 1, 3])
def test_a_worker_that_dies_while_computing_leaves_no_half_result(
    monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """The worker dies after `moment` groups; another worker then stores the same result."""
    wave = make_closed_wave(people=800)
    found = ask(wave, Kind.BREAKDOWN, "q1")
    real, renewed = Queue.renew, 0

    def die(queue: Queue[Comparison], comparison: Comparison, **progress: int) -> None:
        nonlocal renewed
        if renewed == moment:
            raise Killed
        renewed += 1
        real(queue, comparison, **progress)

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "renew", die)
        with pytest.raises(Killed):
            run_comparison(comparison_id=found.pk)
    found.refresh_from_db()
    assert (found.state, found.result) == (Comparison.State.RUNNING, None)
    assert find_standing(found).breakdown is None
    assert not find_comparisons_to_run().exists()
    Comparison.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    again = compute(found).result
    Comparison.objects.all().delete()
    assert compute(ask(wave, Kind.BREAKDOWN, "q1")).result == again


def test_requests_at_once_are_one_row() -> None:
    wave = make_closed_wave()
    assert ask(wave, Kind.BREAKDOWN, "q1") == ask(wave, Kind.BREAKDOWN, "q1")


def add_a_person(result: dict[str, Any]) -> None:
    result["groups"][0]["n"] += 1


def change_an_estimate(result: dict[str, Any]) -> None:
    result["estimates"][3]["value"] += 0.01


def change_a_difference(result: dict[str, Any]) -> None:
    result["differences"][0]["low"] -= 0.01


def show_another_group(result: dict[str, Any]) -> None:
    result["estimates"].pop()


def verify() -> list[Difference]:
    """Return the differences in comparisons; others exist because no report was acknowledged."""
    run = Verification()
    found = list(run.run(Wave.objects.order_by("pk")))
    assert run.comparisons == 1
    return [one for one in found if one.kind == "comparison"]


@pytest.mark.parametrize(
    "change", [add_a_person, change_an_estimate, change_a_difference, show_another_group]
)
def test_verification_computes_it_again(change: Callable[[dict[str, Any]], None]) -> None:
    wave = make_closed_wave(people=800)
    break_down(wave)
    assert verify() == []
    found = Comparison.objects.get()
    assert found.result is not None
    change(found.result)
    found.save()
    [difference] = verify()
    assert "(Break down: q1)" in difference.where


@pytest.mark.parametrize("damage", ["estimates", "question"])
def test_a_result_that_cannot_be_read_is_computed_again(damage: str) -> None:
    wave = make_closed_wave()
    break_down(wave)
    found = Comparison.objects.get()
    assert found.result is not None
    if damage == "question":
        found.result["estimates"][0]["question"] = "q77"
    else:
        del found.result["estimates"][0]["low"]
    found.save()
    assert find_standing(found).breakdown is None
    assert found.state == Comparison.State.WAITING
    assert find_standing(compute(found)).breakdown is not None


def test_a_result_of_a_wave_that_is_no_longer_final_is_not_shown() -> None:
    """Restoring an older backup can leave such a wave."""
    wave = make_closed_wave()
    break_down(wave)
    Snapshot.objects.update(final=False)
    assert find_standing(Comparison.objects.get()).breakdown is None


def test_a_break_down_of_the_newest_reports_is_the_newest() -> None:
    wave = make_closed_wave()
    break_down(wave)
    standing = find_standing(Comparison.objects.get())
    assert standing.is_newest
    assert standing.result is None
