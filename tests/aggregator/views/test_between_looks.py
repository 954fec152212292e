"""Between two looks, nothing that the owner of a survey can fetch changes: no page, file or API."""

from __future__ import annotations

import pytest

from scripts.attacks.researcher.ground import close, send, work
from tests.support.fetching import fetch_everything
from tests.support.fielding import sign_in
from tests.support.waves import make_wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def test_nothing_that_the_owner_can_fetch_changes_between_two_looks() -> None:
    wave = make_wave(questions=2, coins=True)
    coins = wave.survey.waves.manual().get()
    client = sign_in(wave.survey.owner)

    def arrive(number: int, codes: bytes) -> None:
        for each in (wave, coins):
            send(each, [codes] * number)
        work()

    arrive(210, b"\0\1")
    before = fetch_everything(client, wave)
    # Batches are sealed, but they contain fewer than a tenth of all reports.
    for number in (1, 9, 10):
        arrive(number, b"\1\1")
        assert fetch_everything(client, wave) == before
    assert wave.batches.count() == 3
    # Fetched pages do show figures: they change at the next look, and at the close.
    arrive(20, b"\1\1")
    after = fetch_everything(client, wave)
    changed = {name for name in before if after[name] != before[name]}
    assert changed >= {
        *("aggregator:results", "aggregator:estimates_csv", "aggregator:home"),
        *("surveys:edit", "surveys:questions", "surveys:settings", "aggregator:data"),  # the head
        *("aggregator:coin_results", "aggregator:coin_estimates_csv", "aggregator:mode_comparison"),
    }
    close(wave)
    assert fetch_everything(client, wave) != after
