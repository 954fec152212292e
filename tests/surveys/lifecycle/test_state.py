"""The state of a survey as its author reads it, for answers from browsers and with coins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from surveys import formatting
from surveys.lifecycle.services import close_wave
from surveys.lifecycle.state import describe_state
from surveys.manifest.modes import Mode
from surveys.models import Wave
from tests.support.factories import make_launched_survey

pytestmark = pytest.mark.django_db
CLOSES = datetime(2097, 3, 31, 18, 0, tzinfo=UTC)
EARLIER = "It closes on 31 March 2097, 18:00 UTC, or earlier when 2,000 people have answered"
BROWSERS, COINS = Mode.ELECTRONIC, Mode.MANUAL


def describe(wave: Wave, mode: Mode) -> str:
    named = wave.survey.waves.get(mode=mode)
    return describe_state(wave=named, now=timezone.now()).sentence


@pytest.mark.parametrize(
    ("cap", "closes_at", "browsers", "coins"),
    [
        (None, None, "It stays open until you close it.", "It stays open until you close it."),
        (
            2000,
            None,
            "It closes when 2,000 people have answered.",
            "It closes when 2,000 people have answered in the browser.",
        ),
        (
            2000,
            CLOSES,
            f"{EARLIER}.",
            f"{EARLIER} in the browser.",
        ),
    ],
)
def test_coins_end_with_the_browsers(
    cap: int | None, closes_at: datetime | None, browsers: str, coins: str
) -> None:
    wave = make_launched_survey(coins=True, cap=cap, closes_at=closes_at)
    assert describe(wave, BROWSERS) == browsers
    assert describe(wave, COINS) == coins


def test_the_day_of_deletion_is_always_told() -> None:
    day = (timezone.now() + timedelta(days=30)).date()
    wave = make_launched_survey(delete_on=day)
    told = f" It is deleted on {formatting.day(day)}."
    assert describe(wave, BROWSERS) == f"It stays open until you close it.{told}"
    late = describe_state(wave=wave, now=timezone.now() + timedelta(days=30))
    assert late.sentence == f"It accepts no more reports.{told}"
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert describe(wave, BROWSERS).endswith(told)


def test_a_wave_closed_by_the_cap_says_whose_cap_it_was() -> None:
    wave = make_launched_survey(coins=True, cap=2000)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    assert describe(wave, BROWSERS).endswith(", because 2,000 people had answered.")
    assert describe(wave, COINS).endswith(", because 2,000 people had answered in the browser.")


def test_a_wave_that_its_owner_closed_says_so() -> None:
    wave = make_launched_survey(coins=True, cap=2000)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    for mode in (BROWSERS, COINS):
        assert describe(wave, mode).endswith(", because you closed it.")


def test_the_cap_of_another_wave_is_not_shown() -> None:
    survey = make_launched_survey(coins=True, cap=2000).survey
    for mode, cap in ((BROWSERS, 50), (COINS, None)):
        survey.waves.create(
            number=2,
            mode=mode,
            manifest=b"",
            manifest_hash=mode.encode(),
            minimum_batch=10,
            display_minimum=10,
            cap=cap,
        )
    sentences = [
        describe_state(wave=wave, now=timezone.now()).sentence
        for wave in survey.waves.filter(mode=COINS).order_by("number")
    ]
    assert sentences == [
        "It closes when 2,000 people have answered in the browser.",
        "It closes when 50 people have answered in the browser.",
    ]


def test_the_end_is_also_shown_before_the_opening() -> None:
    opens_at = timezone.now() + timedelta(days=3)
    wave = make_launched_survey(coins=True, cap=2000, opens_at=opens_at)
    assert describe(wave, COINS).endswith("when 2,000 people have answered in the browser.")


def test_only_coins_cost_a_query(django_assert_num_queries: Any) -> None:
    wave = make_launched_survey(coins=True, cap=2000)
    coins = wave.survey.waves.manual().newest()
    for named, queries in ((wave, 0), (coins, 1)):
        with django_assert_num_queries(queries):
            describe_state(wave=named, now=timezone.now())
