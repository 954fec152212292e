"""Waves with results, for tests of what is shown: reports stored, sealed and estimated."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence

from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.background.rows_files import (
    accept_proposal,
    find_waves_without_rows_file,
    make_rows_file,
)
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport
from aggregator.results.snapshots import update_snapshot
from aggregator.simulation.rehearsal import Group, draw_people
from aggregator.simulation.respondents import randomize_answers
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave


def send_codes(wave: Wave, *, yes: Sequence[int], total: int) -> None:
    """Store `total` raw reports, of which yes[i] show Yes to question i."""
    RawReport.objects.bulk_create(
        RawReport(
            id=secrets.token_bytes(32),
            wave=wave,
            symbols=bytes(number < shown for shown in yes),
        )
        for number in range(total)
    )


def send_people(wave: Wave, *, people: int, seed: int = 20261122) -> None:
    """Store raw reports of people who answer at random; the same seed gives the same reports."""
    manifest = wave.description
    drawn = draw_people([Group(share=1, answers={})], manifest=manifest, people=people, seed=seed)
    generator = random.Random(seed)
    RawReport.objects.bulk_create(
        RawReport(
            id=generator.randbytes(32),
            wave=wave,
            symbols=randomize_answers(
                manifest, answers, random_uint32=lambda: generator.getrandbits(32)
            ),
        )
        for answers in drawn
    )


def process(wave: Wave, *, accepts: bool = True) -> None:
    """Do the workers' tasks, and let the owner accept the proposed background of the rows."""
    while seal_next_batch(wave_id=wave.pk):
        pass
    update_snapshot(wave_id=wave.pk)
    prepare_rows(wave, accepts=accepts)


def prepare_rows(wave: Wave, *, accepts: bool = True) -> None:
    """Propose the background of an ended wave's rows, and accept it."""
    if find_waves_without_rows_file().filter(pk=wave.pk).exists():
        rows_file = make_rows_file(wave_id=wave.pk)
        if accepts:
            accept_proposal(rows_file)


def field(
    wave: Wave,
    *,
    yes: Sequence[int],
    total: int,
    ending: Wave.Ending = Wave.Ending.OWNER,
) -> Survey:
    """Send codes, close the wave and process it; return the survey."""
    send_codes(wave, yes=yes, total=total)
    close_wave(wave_id=wave.pk, ending=ending)
    process(wave)
    return wave.survey


def at(name: str, survey: Survey, *more: object) -> str:
    """Return the address of an author's page of a survey."""
    return reverse(f"surveys:{name}", args=[survey.slug, *more])


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
