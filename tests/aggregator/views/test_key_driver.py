"""Key drivers without noise: from a choice through the worker to the ranking."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.comparisons.key_driver import list_outcomes, rank_rules
from aggregator.comparisons.result import PairsResult, PairTest
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.key_driver_sentences import (
    MAY_BE_CHANCE,
    NOTHING_SHOWN,
    describe_best,
)
from aggregator.models import Comparison
from privacy.associations.contradictions import Contradiction
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.comparisons import ask, compute
from tests.support.fielding import process, sign_in
from tests.support.reading import text_of
from tests.support.waves import make_wave, send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def make_predicted(
    *, people: int, yes: float, agree: float, closes: bool = True, **settings: Any
) -> Wave:
    """Make a wave: a share `yes` says Yes to Q1, a share `agree` differs in Q2; Q3 is random."""
    wave, draw, rows = make_wave(questions=3, **settings), random.Random(11), []
    for _ in range(people):
        first = draw.random() < yes
        said = [first, first ^ (draw.random() < agree), draw.random() < 0.5]
        rows.append(bytes(answer ^ (draw.random() < 0.25) for answer in said))
    send_many(wave, rows)
    if closes:
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    wave.refresh_from_db()
    return wave


def address(wave: Wave) -> str:
    return reverse("aggregator:key_driver", args=[wave.survey.slug])


def find(wave: Wave) -> tuple[Client, str]:
    """Choose Q1 on the page and let the worker count; return the text of the page."""
    client = sign_in(wave.survey.owner)
    response = client.post(address(wave), {"outcome": "q1"})
    assert response.status_code == 302, text_of(response)
    assert response["Location"] == f"{address(wave)}?outcome=q1"
    assert "Reload this page" in text_of(client.get(response["Location"]))
    compute(Comparison.objects.get())
    return client, text_of(client.get(response["Location"]))


def test_the_best_predictor_is_named_beside_the_better_constant() -> None:
    wave = make_predicted(people=3_000, yes=0.4, agree=0.85)
    client, words = find(wave)
    assert "Q2 predicts Q1 best: guessing the opposite answer is right for" in words
    assert "“Always No” is right for" in words
    assert MAY_BE_CHANCE not in words
    assert words.index("Q2: opposite answer") < words.index("“Always No” 0 %")
    assert "hold at 95 % for all 3 rules" in words
    # A second request uses the stored counts.
    assert client.post(address(wave), {"outcome": "q3"}).status_code == 302
    assert Comparison.objects.count() == 1
    page = client.get(reverse("aggregator:compare", args=[wave.survey.slug]))
    assert address(wave) in page.content.decode()


def test_none_is_named_where_the_constant_is_as_good() -> None:
    _, words = find(make_predicted(people=3_000, yes=0.05, agree=0.5))
    assert "No answer predicts Q1 better than “Always No”, which is right for" in words


def rank(wave: Wave) -> Any:
    result = find_standing(compute(ask(wave, Comparison.Kind.PAIRS))).result
    assert isinstance(result, PairsResult)
    outcome = list_outcomes(wave.description)[0]
    return rank_rules(result, wave.description, outcome, times=())


def count_pair(other: str, *counts: tuple[int, int]) -> PairTest:
    return PairTest(
        indicators=("q1", other),
        n=sum(map(sum, counts)),
        counts=counts,
        more_often_together=1,
        method="",
        statistic=None,
        p_value=1.0,
        adjusted_p_value=1.0,
    )


@pytest.mark.parametrize(
    ("yes", "said"),
    [
        # Of 4,000 people with Q1 and Q3, 63 % say Yes to Q1; in the second case, 60 % do.
        (2260, "No answer predicts Q1 better than “Always Yes”, which is right for 63 %"),
        (2200, "Q2 predicts Q1 best: guessing the same answer is right for 62 %"),
    ],
)
def test_the_best_is_ahead_of_the_constant_that_is_shown(yes: int, said: str) -> None:
    """Of 2,000 people with Q1 and Q2, 62 % have the same answer, and 60 % say Yes to Q1."""
    wave = make_wave(questions=3)
    other = count_pair("q3", ((4000 - yes) // 2,) * 2, (yes // 2,) * 2)
    result = PairsResult(
        n=2000,
        contradiction=Contradiction(while_watched=False, after_fixed_end=False),
        pairs=(count_pair("q2", (480, 420), (520, 580)), other),
        untested=(),
    )
    outcome = list_outcomes(wave.description)[0]
    ranking = rank_rules(result, wave.description, outcome, times=())
    assert ranking is not None
    [rule] = [one for one in ranking.rules if one.predictor and one.predictor.name == "q2"]
    assert rule.says_same
    assert rule.gain == pytest.approx(0.02)
    assert describe_best(ranking).replace("\N{NO-BREAK SPACE}", " ").startswith(said)


def test_what_may_be_chance_is_said_to_be() -> None:
    ranking = rank(make_predicted(people=600, yes=0.5, agree=0.5))
    assert ranking.best is not None
    assert ranking.best.least_gain < 0
    assert MAY_BE_CHANCE in describe_best(ranking)


def test_the_ranking_follows_from_the_counts() -> None:
    """The expected estimates are computed by hand from the codes of the stored reports."""
    wave = make_predicted(people=2_000, yes=0.4, agree=0.85)
    ranking = rank(wave)
    counts = wave.snapshots.get(final=True).counts
    n, yes = sum(counts[0]), counts[0][1]
    assert ranking.constant.share == pytest.approx((1 - yes / n - 0.25) / 0.5)
    best = ranking.rules[0]
    assert (best.predictor.name, best.says_same) == ("q2", False)
    assert abs(best.share - 0.85) < 4 * (0.25 / 2_000) ** 0.5 / 0.25
    assert best.low < best.share < best.high
    assert best.gain == pytest.approx(best.share - ranking.constant.share)
    # For two pairs and the constant, the level is 1 - .05/3, so the bound is 2.39 standard errors.
    assert ranking.together.family == 3
    assert (best.gain - best.least_gain) / 2.394 == pytest.approx(0.047, abs=0.01)


def test_few_people_get_no_ranking() -> None:
    ranking = rank(make_predicted(people=40, yes=0.5, agree=0.9, minimum_batch=10))
    assert describe_best(ranking) == NOTHING_SHOWN


def test_an_open_survey_has_no_key_driver() -> None:
    wave = make_predicted(people=600, yes=0.4, agree=0.85, closes=False)
    client = sign_in(wave.survey.owner)
    assert "once the survey has closed" in text_of(client.get(address(wave)))
    refused = client.post(address(wave), {"outcome": "q1"})
    assert refused.status_code == 422
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("outcome", ["", "q9", "q1.all"])
def test_an_outcome_must_be_a_yes_or_no_answer(outcome: str) -> None:
    wave = make_predicted(people=600, yes=0.4, agree=0.85)
    client = sign_in(wave.survey.owner)
    refused = client.post(address(wave), {"outcome": outcome})
    assert refused.status_code == 422
    page = client.get(f"{address(wave)}?outcome={outcome}")
    assert page.status_code == 200
    assert "What predicts" not in text_of(page)


def test_counts_of_earlier_versions_are_made_again() -> None:
    """Earlier versions stored no codes of pairs, so the worker counts pairs again."""
    wave = make_predicted(people=600, yes=0.4, agree=0.85)
    client, _ = find(wave)
    stored = Comparison.objects.get()
    assert stored.result is not None
    for pair in stored.result["pairs"]:
        del pair["counts"]
    stored.save()
    assert "Reload this page" in text_of(client.get(f"{address(wave)}?outcome=q1"))
    compute(Comparison.objects.get())
    assert "What predicts Q1" in text_of(client.get(f"{address(wave)}?outcome=q1"))
