"""Answers from browsers and with coins are compared side by side, and pooled only on request."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.results.display import find_view
from aggregator.results.modes import compare_modes
from privacy.associations.known_groups import compare_groups, pool_strata
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import process, send_codes, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def make_answered(
    *, browser: list[int], coins: list[int], flips: int = 40, **settings: Any
) -> Survey:
    """Send 200 browser reports, of which browser[i] say Yes to question i, and 100 with coins."""
    wave = make_launched_survey(
        coins=True, flips=flips, minimum_batch=10, display_minimum=50, **settings
    )
    survey = wave.survey
    other = survey.waves.manual().newest()
    assert other is not None
    send_codes(wave, yes=browser, total=200)
    send_codes(other, yes=coins, total=100)
    close_wave(
        wave_id=wave.pk, ending=Wave.Ending.CAP if settings.get("cap") else Wave.Ending.OWNER
    )
    process(wave)
    process(other)
    return survey


def read(survey: Survey, name: str = "mode_comparison", query: str = "") -> Any:
    return sign_in(survey.owner).get(reverse(f"aggregator:{name}", args=[survey.slug]) + query)


def rows_of(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_the_difference_is_of_true_answers_although_the_channels_differ() -> None:
    survey = make_answered(browser=[100, 88], coins=[50, 45])
    page = text_of(read(survey))
    # With 40 flips of 100, d = .2 and c = .4, so .5 becomes .5 and .44 becomes .2. With two coins,
    # a share s of Yes becomes 2 s − .5.
    assert "Coins less browser −100 100 20 points (" in page
    first, second = rows_of(read(survey, "mode_comparison_csv"))
    assert float(first["browser_estimate"]) == pytest.approx(0.5)
    assert float(first["coins_estimate"]) == pytest.approx(0.5)
    assert float(first["difference"]) == pytest.approx(0, abs=1e-8)
    assert float(second["difference"]) == pytest.approx(0.4 - 0.2, abs=1e-8)
    variance = 0.25 / 200 / 0.04 + 0.25 / 100 / 0.25
    assert float(first["difference_standard_error"]) == pytest.approx(math.sqrt(variance))
    assert first["difference_method"] == "profile_likelihood"
    assert (first["browser_n"], first["coins_n"]) == ("200", "100")
    assert (first["browser_threshold"], first["coins_threshold"]) == ("2576980377", "3221225472")
    assert "pooled" not in first


def test_shares_are_shown_as_far_as_they_are_reliable() -> None:
    """The share is 50 % among 200 people and among 100; later, with 45 flips, among 200 again."""
    survey = make_answered(browser=[100, 90], coins=[50, 45], flips=25, cap=300)
    page = text_of(read(survey))
    for words in ("(200 people) 50 % † (36–", "(100 people) 50 % † (31–", "† Use with caution"):
        assert words in page
    row, _ = rows_of(read(survey, "mode_comparison_csv"))
    assert (row["browser_reliability"], row["coins_reliability"]) == ("caution", "caution")
    survey = make_answered(browser=[100, 90], coins=[50, 45], flips=45)
    assert "(200 people) too few answers" in text_of(read(survey))
    row, _ = rows_of(read(survey, "mode_comparison_csv"))
    assert float(row["browser_estimate"]) == pytest.approx(0.5)
    assert row["browser_reliability"] == "not_shown"


def test_pooled_shares_are_shown_only_on_request() -> None:
    survey = make_answered(browser=[100, 88], coins=[55, 35])
    apart, together = read(survey), read(survey, query="?pooled=yes")
    assert "Pooled, as you chose" not in text_of(apart)
    assert ">Pooled</span>" not in apart.content.decode()
    assert together.content.decode().count(">Pooled</span>") == 2
    assert "Pooled, as you chose" in text_of(together)
    for query in ("?pooled=1", "?pooled=", "?pooled=no"):
        assert "as you chose" not in text_of(read(survey, query=query))
    first, _ = rows_of(read(survey, "mode_comparison_csv", "?pooled=yes"))
    expected = pool_strata(
        successes=[55, 100],
        totals=[100, 200],
        mechanisms=[question.question.mechanism for question in mechanisms(survey)],
    )
    assert float(first["pooled"]) == expected.share
    assert float(first["pooled_low"]) == expected.low
    assert float(first["pooled_high"]) == expected.high
    assert expected.low < expected.share < expected.high


def mechanisms(survey: Survey) -> list[Any]:
    found = [find_view(survey, mode=mode).results for mode in ("manual", "electronic")]
    return [results.questions[0] for results in found if results]


def test_the_page_warns_against_pooling_shares_that_differ() -> None:
    survey = make_answered(browser=[60, 100], coins=[70, 50], flips=25)
    page = text_of(read(survey, query="?pooled=yes"))
    assert page.count("so no single share describes both. Do not pool them here.") == 1
    assert "Do not pool" not in text_of(read(survey))
    first, _ = rows_of(read(survey, "mode_comparison_csv"))
    # 2 · .7 − ½ − (2 · .3 − ½), because the channel is the same
    assert float(first["difference"]) == pytest.approx(0.8)
    assert first["difference_method"] == "newcombe"
    expected = compare_groups(
        successes=[70, 60],
        totals=[100, 200],
        mechanisms=[question.question.mechanism for question in mechanisms(survey)],
    )
    assert float(first["difference_low"]) == expected.low
    assert float(first["difference_high"]) == expected.high
    assert 0 < expected.low < 0.8 < expected.high


def test_the_page_warns_against_a_line_with_an_alarm() -> None:
    survey = make_answered(browser=[100, 100], coins=[0, 50])
    page = text_of(read(survey, query="?pooled=yes"))
    assert "are the likely cause of the codes of coins." in page
    first, second = rows_of(read(survey, "mode_comparison_csv"))
    assert (first["coins_status"], second["coins_status"]) == ("alarm", "ok")


@pytest.mark.parametrize(
    ("cap", "words"), [(200, "do not allow for other comparisons"), (None, "not guaranteed")]
)
def test_the_page_says_whether_the_intervals_are_for_one_look(cap: int | None, words: str) -> None:
    survey = make_answered(browser=[100, 88], coins=[55, 35], **({"cap": cap} if cap else {}))
    assert words in text_of(read(survey))


@pytest.mark.parametrize("few", ["manual", "electronic"])
def test_nothing_is_shown_below_the_display_minimum_of_either_mode(few: str) -> None:
    wave = make_launched_survey(coins=True, minimum_batch=10, display_minimum=50)
    survey = wave.survey
    for one in (wave, survey.waves.manual().newest()):
        assert one is not None
        total = 49 if one.mode == few else 60
        send_codes(one, yes=[30, 20], total=total)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    for one in survey.waves.all():
        process(one)
    page = text_of(read(survey))
    name = "those who tossed two coins" if few == "manual" else "those who answered in the browser"
    assert f"Too few responses to show from {name}." in page
    assert "Coins less browser" not in page
    assert read(survey, "mode_comparison_csv").status_code == 409


def test_before_any_report_both_modes_are_named_as_missing() -> None:
    survey = make_launched_survey(coins=True).survey
    page = text_of(read(survey))
    assert (
        "from those who answered in the browser and from those who tossed two coins. Both" in page
    )


def test_only_questions_that_coins_asked_are_compared() -> None:
    survey = make_answered(browser=[100, 88], coins=[55, 35])
    found = [find_view(survey, mode=mode).results for mode in ("electronic", "manual")]
    assert found[0] is not None
    assert found[1] is not None
    names = [one.coins.question.name for one in compare_modes(browser=found[0], coins=found[1])]
    assert names == ["q1", "q2"]


def test_without_coins_the_page_does_not_exist() -> None:
    survey = make_launched_survey().survey
    assert read(survey).status_code == 404
    assert read(survey, "mode_comparison_csv").status_code == 404
    assert (
        Client().get(reverse("aggregator:mode_comparison", args=[survey.slug])).status_code == 302
    )


def test_both_results_pages_link_to_the_comparison() -> None:
    survey = make_answered(browser=[100, 88], coins=[55, 35])
    path = reverse("aggregator:mode_comparison", args=[survey.slug])
    for name in ("results", "coin_results"):
        assert f'href="{path}"' in read(survey, name).content.decode()
