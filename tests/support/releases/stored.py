"""Releases as a worker would store them, with noise from a seed: OpenDP cannot be seeded."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import Any

from aggregator.models import Release, ReleaseLedger
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave, today
from surveys.releasing.choice import check_request
from surveys.releasing.noise import Mechanism, list_symbols, plan_release
from tests.support.sampling.integer_sampler import IntegerSampler

Cells = Mapping[str, Sequence[int]]
LIBRARY = "OpenDP 0.16.0"


def plan(
    manifest: Manifest,
    *questions: str,
    kind: ReleaseKind = ReleaseKind.TABLE,
    epsilon: int = 100,
    nanos_spent: int = 0,
    **more: Any,
) -> Release:
    """Make a release that is neither drawn nor stored; `epsilon` is in hundredths, δ in nanos."""
    request = check_request(
        ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=epsilon, **more), manifest
    )
    left = (manifest.release_delta_nanos or 0) - nanos_spent
    planned = plan_release(request, manifest, delta_nanos_left=left)
    return Release(
        key=secrets.token_hex(16),
        kind=kind,
        request=request.to_json(),
        request_hash=request.digest,
        through_batch=1,
        mechanism=planned.mechanism,
        scale=str(planned.scale),
        epsilon_hundredths=planned.epsilon_hundredths,
        delta_nanos=planned.delta_nanos,
        rho=planned.rho,
        public_from=today(),
    )


def as_gaussian(release: Release, *, deviation: Fraction, symbols: int, nanos: int) -> Release:
    """Give a planned table Gaussian noise, whatever noise Murmur would choose."""
    release.mechanism = Mechanism.GAUSSIAN
    release.scale = str(deviation)
    release.rho = float(symbols / (2 * deviation**2))
    release.delta_nanos = nanos
    return release


def finish(release: Release, result: dict[str, Any]) -> Release:
    """Write a result as a worker does after drawing, without storing it."""
    release.state, release.result, release.library = Release.State.DRAWN, result, LIBRARY
    return release


def add_noise(release: Release, counts: Cells, *, source: Random) -> dict[str, list[int]]:
    """Add the release's noise to the true counts of a table."""
    sampler, scale = IntegerSampler(source), Fraction(release.scale)

    def draw() -> int:
        if release.mechanism == Mechanism.GAUSSIAN:
            return sampler.discrete_gaussian(scale**2)
        return sampler.discrete_laplace(scale)

    return {name: [count + draw() for count in cells] for name, cells in counts.items()}


def store(release: Release, wave: Wave, *, public_from: date | None = None) -> Release:
    """Store and charge a release requested the day before `public_from` (by default, today)."""
    manifest = wave.description
    ledger, _ = ReleaseLedger.objects.get_or_create(
        wave=wave,
        defaults={
            "cap_hundredths": manifest.release_epsilon_hundredths or 0,
            "delta_cap_nanos": manifest.release_delta_nanos or 0,
        },
    )
    ledger.spent_hundredths += release.epsilon_hundredths
    ledger.delta_spent_nanos += release.delta_nanos
    ledger.save()
    release.wave = wave
    release.public_from = public_from or today()
    release.reserved_on = release.public_from - timedelta(days=1)
    release.save()
    return release


def store_table(
    wave: Wave,
    *questions: str,
    people: int = 1000,
    seed: int = 20,
    epsilon: int = 100,
    public_from: date | None = None,
) -> Release:
    """Store a table whose people are divided equally among the codes of each symbol."""
    manifest = wave.description
    names = questions or (manifest.questions[0].name,)
    nanos = sum(release.delta_nanos for release in wave.releases.all())
    release = plan(manifest, *names, epsilon=epsilon, nanos_spent=nanos)
    counts = {
        symbol.name: [people // symbol.k] * symbol.k for symbol in list_symbols(manifest, names)
    }
    cells = add_noise(release, counts, source=Random(seed))
    return store(finish(release, {"cells": cells}), wave, public_from=public_from)
