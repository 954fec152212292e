"""The price of a release: it never depends on a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.prices import Price, find_price
from aggregator.releases.ledger import read_account
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey, Wave
from surveys.releasing.choice import NotReleasable
from tests.support.factories import make_survey, open_survey
from tests.support.releases.stored import store_table
from tests.support.waves import count_all, make_released_wave, send_many

pytestmark = pytest.mark.django_db
Kind = ReleaseKind


def price(
    wave: Wave,
    *questions: str,
    kind: Kind = Kind.TABLE,
    epsilon: int = 50,
    people: int = 1000,
) -> Price:
    request = ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=epsilon)
    return find_price(wave=wave, account=read_account(wave), request=request, people=people)


@pytest.fixture
def wave() -> Wave:
    return make_released_wave()


@pytest.fixture
def every_kind() -> Wave:
    """Make a rehearsal with a yes/no question, a scale of five points and a declared question."""
    types = Question.Type
    survey = make_survey(
        questions=["Ill?"],
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
        people_expected=1000,
    )
    add_question(survey=survey, type=types.SCALE, text="Tired?", minimum=1, maximum=5)
    add_question(survey=survey, type=types.DECLARED, text="Where?", options=["A", "B", "C"])
    Survey.objects.filter(pk=survey.pk).update(rehearsal=True)
    survey.refresh_from_db()
    wave = open_survey(survey=survey)
    send_many(wave, [b"\0\1\2", b"\1\3\0"] * 20)
    count_all(wave)
    return wave


def test_one_question_of_two_coins_costs_what_the_methods_say(wave: Wave) -> None:
    found = price(wave, "q1")
    assert found.typical is not None
    # λ = .35: p (1 - p) / n = .00016, λ (1 - λ) / (n d²) = .00091; v = 7.835:
    # v ((1 - λ)² + λ²) / (n² d²) = .0000170808
    assert found.typical.spread.total == "± 6.0 points"
    assert found.typical.spread.widening == "0.9\N{NO-BREAK SPACE}%"
    assert found.people_needed == 20
    assert found.left == 50
    assert found.took_part == "ε = 0.50"
    # 2 artanh(tanh(ln 3 / 2) tanh(ε / 2)) with ε = 2 / b = 1: .470614920, rounded up
    assert found.readers == "ε = 0.48 at most (server: 1.10)"
    assert found.readers_together == ""
    assert "Laplace noise of scale 2 on every count" in found.mechanism


def test_more_questions_share_the_epsilon_so_each_is_noisier(wave: Wave) -> None:
    one, three = price(wave, "q1"), price(wave, "q1", "q2", "q3")
    assert (one.people_needed, three.people_needed) == (20, 60)
    assert len(three.figures) == 3


def test_too_few_people_are_warned_of_with_an_epsilon_that_is_enough(wave: Wave) -> None:
    assert not price(wave, "q1", people=20).is_too_few
    few = price(wave, "q1", people=19)
    assert few.is_too_few
    assert few.people_needed == 20
    assert few.enough == 53  # 50 · 20 / 19, rounded up
    assert not price(wave, "q1", epsilon=few.enough, people=19).is_too_few
    # No ε is offered that exceeds what is left.
    assert price(wave, "q1", people=9).enough == 0


def test_the_price_is_the_same_whatever_people_answered() -> None:
    waves = [
        make_released_wave(rows=[row] * count) for row, count in ((b"\0\0\0", 40), (b"\1\1\1", 90))
    ]
    prices = [price(wave, "q1", "q2") for wave in waves]
    questions = [replace(one, figures=()) for one in prices]
    assert questions[0] == questions[1]
    assert [one.typical.spread for one in prices if one.typical] == [
        one.typical.spread for one in prices[::-1] if one.typical
    ]


def test_the_reason_for_laplace_noise_is_true() -> None:
    pure = make_released_wave(release_delta_nanos=0)
    assert price(pure, "q1").why == "It needs no δ."
    wave = make_released_wave()
    assert "varies less than Gaussian noise" in price(wave, "q1").why
    store_table(wave, "q1")
    ReleaseLedger.objects.filter(wave=wave).update(delta_spent_nanos=1000)
    assert price(wave, "q1").why == "It needs no δ."


def test_a_table_of_many_questions_warns_that_it_takes_the_whole_delta() -> None:
    names = [f"q{number}" for number in range(1, 13)]
    wave = make_released_wave(rows=[bytes(12)] * 40, questions=12, flips=40)
    found = price(wave, *names, epsilon=100)
    assert "spends all of this survey’s δ" in found.why
    assert found.took_part == "ε = 1.00, δ = 10⁻⁶"
    store_table(wave, "q1")
    ReleaseLedger.objects.filter(wave=wave).update(delta_spent_nanos=1000)
    assert price(wave, *names, epsilon=100).why == (
        "Gaussian noise would vary less, but this survey’s δ is spent."
    )


def test_a_random_subset_says_how_many_are_asked() -> None:
    wave = make_released_wave(drawn=2, rows=[b"\1\1\xff", b"\xff\0\1"] * 30)
    found = price(wave, "q1", kind=Kind.LEADER, people=900)
    assert "of 600 people (asked of 900) behind the leader" in found.reach
    table = price(wave, "q1", people=900).typical
    assert table is not None
    assert table.people == 600


def test_earlier_releases_add_to_what_readers_learn(wave: Wave) -> None:
    store_table(wave, "q1", epsilon=50)
    found = price(wave, "q1")
    assert found.readers == "ε = 0.48 at most (server: 1.10)"
    # Two releases lose twice 2 / b, which is 2; scrambling reduces it to .801983163 for an answer.
    assert found.readers_together == "ε = 0.81 at most (server: 1.10)"
    Release.objects.update(state=Release.State.LOST, result=None)
    assert price(wave, "q1").readers_together == found.readers_together


def test_a_leader_says_how_far_it_may_be_from_the_true_one(every_kind: Wave) -> None:
    found = price(every_kind, "q3", kind=Kind.LEADER)
    assert found.figures == ()
    assert not found.is_too_few
    # (ln 3 + ln 20) / .5 = 8.19 reports; an unscrambled report is one person
    assert "at most 9 of 1,000 people behind the leader" in found.reach
    assert not found.is_blunt
    assert price(every_kind, "q3", kind=Kind.LEADER, people=16).is_blunt


def test_a_median_says_how_many_would_have_to_answer_differently(every_kind: Wave) -> None:
    found = price(every_kind, "q2", kind=Kind.MEDIAN)
    # c = 1/7, d = 2/7, Δ = 10/7: 2 Δ / .5 (ln 5 + ln 20) = 26.32, divided by 2 d: 46.06
    assert "if at most 47 of 1,000 people had answered differently" in found.reach
    assert price(every_kind, "q2", kind=Kind.MEDIAN, people=92).is_blunt
    assert "Permute-and-flip" in found.mechanism


def test_a_request_that_cannot_be_made_has_no_price(wave: Wave) -> None:
    with pytest.raises(NotReleasable):
        price(wave, "q99")
    with pytest.raises(NotReleasable):
        price(wave, "q1", kind=Kind.MEDIAN)
