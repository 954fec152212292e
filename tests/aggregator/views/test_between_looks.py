"""Between two looks, nothing that the owner of a survey can fetch changes: no page, file or API."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from scripts.attacks.researcher.ground import close, send, work
from surveys.models import Wave
from tests.support.fielding import sign_in
from tests.support.routes import all_routes
from tests.support.waves import make_wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
NAMESPACES = ("surveys:", "aggregator:", "api:")
# Tokens that differ in every reply.
TOKENS = re.compile(rb'(name="csrfmiddlewaretoken" value=|"X-CSRFToken": ?|nonce=)"[^"]*"')


def fetch_everything(client: Client, wave: Wave) -> dict[str, tuple[int, bytes]]:
    """Fetch each address that needs nothing but the survey's name."""
    found = {}
    for route in all_routes():
        if route.name.startswith(NAMESPACES) and set(route.parameters) <= {"slug"}:
            path = reverse(route.name, kwargs=dict.fromkeys(route.parameters, wave.survey.slug))
            reply = client.get(path)
            found[route.name] = reply.status_code, TOKENS.sub(b"", reply.getvalue())
    return found


@pytest.mark.slow
def test_nothing_that_the_owner_can_fetch_changes_between_two_looks() -> None:
    wave = make_wave(questions=2)
    client = sign_in(wave.survey.owner)
    send(wave, [b"\0\1"] * 210)
    work()
    before = fetch_everything(client, wave)
    # Batches are sealed, but their reports are less than a tenth of all.
    for number in (1, 9, 10):
        send(wave, [b"\1\1"] * number)
        work()
        assert fetch_everything(client, wave) == before
    assert wave.batches.count() == 3
    assert {"aggregator:results", "aggregator:estimates_csv", "aggregator:home"} <= before.keys()
    # What is fetched does show figures: it changes at the next look, and at the close.
    send(wave, [b"\1\1"] * 20)
    work()
    after = fetch_everything(client, wave)
    changed = {name for name in before if after[name] != before[name]}
    assert {"aggregator:results", "aggregator:estimates_csv", "aggregator:home"} <= changed
    close(wave)
    assert fetch_everything(client, wave) != after
