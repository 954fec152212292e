"""The ledger of a wave: what is charged, what is refused, and what each release is about."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aggregator.models import Release, ReleaseLedger
from aggregator.releases.counters import name_start
from aggregator.releases.ledger import list_keys, read_account, reserve_release
from aggregator.upkeep.deleting import delete_survey
from privacy.central.composition import zcdp_epsilon
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey, today
from surveys.releasing.choice import NotReleasable
from tests.support.waves import count_all, make_protected_wave, make_released_wave, make_wave

pytestmark = pytest.mark.django_db(transaction=True)


def ask(
    *questions: str, kind: ReleaseKind = ReleaseKind.TABLE, epsilon: int = 50
) -> ReleaseRequest:
    return ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=epsilon)


def test_a_release_is_charged_once_and_asked_for_again_it_is_the_same() -> None:
    wave = make_released_wave()
    first = reserve_release(wave=wave, request=ask("q2", "q1"))
    again = reserve_release(wave=wave, request=ask("q1", "q2"))
    assert again == first
    assert first.request["questions"] == ["q1", "q2"]
    account = read_account(wave)
    assert (account.spent, account.left, account.releases) == (50, 50, (first,))


def test_the_whole_cap_can_be_spent_and_nothing_more() -> None:
    wave = make_released_wave()
    reserve_release(wave=wave, request=ask("q1", epsilon=60))
    with pytest.raises(NotReleasable, match=r"ε = 0\.41\. Of ε = 1\.00, 0\.40 is left"):
        reserve_release(wave=wave, request=ask("q2", epsilon=41))
    reserve_release(wave=wave, request=ask("q2", epsilon=40))
    with pytest.raises(NotReleasable, match=r"0\.00 is left"):
        reserve_release(wave=wave, request=ask("q3", epsilon=1))
    assert read_account(wave).spent == 100
    # The earlier release is still there.
    assert reserve_release(wave=wave, request=ask("q2", epsilon=40)).pk


def test_each_sum_is_stated_where_it_applies() -> None:
    wave = make_released_wave()
    losses = [
        reserve_release(wave=wave, request=ask(name, epsilon=40)).rho for name in ("q1", "q2")
    ]
    sums = read_account(wave).sums
    assert sums is not None
    assert sums.zcdp == zcdp_epsilon(rho=sum(rho or 0.0 for rho in losses), delta=sums.delta)
    assert sums.basic == 0.8
    assert sums.exact == pytest.approx(0.8, rel=1e-3)
    wave.releases.filter(request__questions=["q1"]).update(rho=None, delta_nanos=1)
    sums = read_account(wave).sums
    assert sums is not None
    assert (sums.basic, sums.advanced, sums.exact, sums.zcdp) == (0.8, None, None, None)


@pytest.mark.parametrize("epsilon", [0, -1, 101, 10**9, True, 0.5, "50", None])
def test_an_epsilon_that_cannot_be_spent_charges_nothing(epsilon: int) -> None:
    wave = make_released_wave()
    with pytest.raises(NotReleasable, match="ε"):
        reserve_release(wave=wave, request=ask("q1", epsilon=epsilon))
    assert not ReleaseLedger.objects.exists()


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ((), "at least one"),
        (("q1", "q1"), "once"),
        (("q1", "q9", "<b>"), "no question q9 and <b>"),
    ],
)
def test_questions_that_cannot_be_released_charge_nothing(
    questions: tuple[str, ...], said: str
) -> None:
    wave = make_released_wave()
    with pytest.raises(NotReleasable, match=said):
        reserve_release(wave=wave, request=ask(*questions))
    assert not ReleaseLedger.objects.exists()


def test_a_leader_is_about_one_question() -> None:
    wave = make_released_wave()
    with pytest.raises(NotReleasable, match="Choose one question"):
        reserve_release(wave=wave, request=ask("q1", "q2", kind=ReleaseKind.LEADER))


def test_yes_or_no_has_no_median() -> None:
    wave = make_released_wave()
    with pytest.raises(NotReleasable, match="cannot be about question 1"):
        reserve_release(wave=wave, request=ask("q1", kind=ReleaseKind.MEDIAN))


def test_an_open_wave_releases_nothing() -> None:
    wave = make_protected_wave(rows=[b"\0\1\0"] * 40)
    with pytest.raises(NotReleasable, match="after the survey has closed"):
        reserve_release(wave=wave, request=ask("q1"))
    assert not ReleaseLedger.objects.exists()


def test_a_wave_whose_reports_are_not_all_counted_releases_nothing() -> None:
    wave = make_released_wave()
    wave.snapshots.update(final=False)
    with pytest.raises(NotReleasable, match="until all reports are counted"):
        reserve_release(wave=wave, request=ask("q1"))


@pytest.mark.parametrize("publication", [Publication.NONE, Publication.EXACT])
def test_a_survey_that_promised_something_else_releases_nothing(publication: str) -> None:
    wave = make_wave(publication=publication)
    count_all(wave)
    with pytest.raises(NotReleasable, match="does not allow"):
        reserve_release(wave=wave, request=ask("q1"))


def test_a_page_that_is_switched_off_gets_no_new_release() -> None:
    wave = make_released_wave()
    first = reserve_release(wave=wave, request=ask("q1"))
    Survey.objects.update(public_results_off=True)
    assert reserve_release(wave=wave, request=ask("q1")) == first
    with pytest.raises(NotReleasable, match="Switch it on"):
        reserve_release(wave=wave, request=ask("q2"))
    assert read_account(wave).spent == 50


def test_a_deleted_survey_releases_nothing() -> None:
    wave = make_released_wave()
    reserve_release(wave=wave, request=ask("q1"))
    delete_survey(survey=wave.survey)
    with pytest.raises(NotReleasable, match="has been deleted"):
        reserve_release(wave=wave, request=ask("q1"))
    assert not Release.objects.exists()
    assert not ReleaseLedger.objects.exists()


def test_readers_see_it_the_day_after_and_invented_answers_at_once() -> None:
    wave = make_released_wave()
    assert reserve_release(wave=wave, request=ask("q1")).public_from == today() + timedelta(days=1)
    Survey.objects.update(rehearsal=True)
    assert reserve_release(wave=wave, request=ask("q2")).public_from == today()


def test_the_file_of_draws_must_know_where_a_first_look_began() -> None:
    alert = Release(key="0b" * 32, kind=ReleaseKind.ALERT)
    known = {alert.key, name_start(alert.key)}
    assert list_keys([alert]) == (known, set())
    alert.looked_on = today()
    assert list_keys([alert]) == (known, {name_start(alert.key)})
