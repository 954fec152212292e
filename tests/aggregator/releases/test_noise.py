"""OpenDP draws what was charged, or nothing at all."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from importlib import metadata
from typing import Any
from unittest import mock

import pytest

from aggregator.models import Release, ReleaseLedger
from aggregator.releases import noise
from aggregator.releases.drawing import draw_release
from aggregator.releases.ledger import reserve_release
from aggregator.releases.noise import NotDrawable, prepare_sampler
from privacy.central.noise import discrete_gaussian_probability, discrete_laplace_probability
from privacy.central.selection import permute_and_flip_probabilities
from scripts.stack.stack import ROOT
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.noise import Mechanism, ReleasePlan
from tests.support.sampling.frequencies import chi_squared_p
from tests.support.waves import make_released_wave

DRAWS = 20_000
VERSION = "aggregator.releases.library.metadata.version"
LEAST_P = 1e-6
LAPLACE = ReleasePlan(
    mechanism=Mechanism.LAPLACE,
    scale=Fraction(10, 3),
    sensitivity=1,
    epsilon_hundredths=30,
    delta_nanos=0,
    rho=0.045,
)
GAUSSIAN = ReleasePlan(
    mechanism=Mechanism.GAUSSIAN,
    scale=Fraction(203, 16),
    sensitivity=9,
    epsilon_hundredths=100,
    delta_nanos=1000,
    rho=9 / (2 * (203 / 16) ** 2),
)
LEADER = ReleasePlan(
    mechanism=Mechanism.PERMUTE_AND_FLIP,
    scale=Fraction(2),
    sensitivity=1,
    epsilon_hundredths=50,
    delta_nanos=0,
    rho=0.125,
)
TYPICAL = replace(LEADER, scale=Fraction(4 * 1286), sensitivity=1286, is_monotone=False)
PLANS = [LAPLACE, GAUSSIAN, LEADER, TYPICAL]


def test_only_one_module_names_opendp_and_only_inside_functions() -> None:
    """Neither web processes nor code that runs at startup may load OpenDP."""
    folders = ("accounts", "aggregator", "config", "privacy", "surveys")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    importing = {
        path.name
        for path in sources
        if any(
            line.split()[:2] in (["from", module], ["import", module])
            for line in path.read_text().splitlines()
            for module in ("opendp", "opendp.prelude")
        )
    }
    assert importing == {"noise.py"}
    text = (ROOT / "aggregator" / "releases" / "noise.py").read_text()
    assert not any(line.startswith(("import opendp", "from opendp")) for line in text.splitlines())


@pytest.mark.parametrize("plan", PLANS)
def test_opendp_states_the_loss_that_was_charged(plan: ReleasePlan) -> None:
    assert prepare_sampler(plan).library == f"OpenDP {metadata.version('opendp')}"


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("factor", [Fraction(999_999, 10**6), Fraction(1_000_001, 10**6), 2])
def test_noise_for_another_loss_is_not_drawn(plan: ReleasePlan, factor: Fraction) -> None:
    with pytest.raises(NotDrawable, match="a loss that differs"):
        prepare_sampler(replace(plan, scale=plan.scale * factor))


def test_a_leader_drawn_with_the_scale_of_a_general_score_is_noticed() -> None:
    with pytest.raises(NotDrawable, match="a loss that differs"):
        prepare_sampler(replace(LEADER, is_monotone=False))


@pytest.mark.parametrize("version", ["0.15.1", "0.17.0", "0.160.0", "1.0", "0.16", "16.0.16."])
def test_another_version_draws_nothing(version: str) -> None:
    with (
        mock.patch(VERSION, return_value=version),
        pytest.raises(NotDrawable, match=f"version {version} is installed"),
    ):
        prepare_sampler(LAPLACE)


def test_a_library_that_does_not_load_draws_nothing() -> None:
    with (
        mock.patch.dict(sys.modules, {"opendp": None}),
        pytest.raises(NotDrawable, match="does not work"),
    ):
        prepare_sampler(LAPLACE)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault", ["missing", "other version", "other loss"])
def test_what_cannot_be_drawn_waits_and_is_drawn_after_the_repair(fault: str) -> None:
    wave = make_released_wave()
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=20)
    release = reserve_release(wave=wave, request=request)
    faults: dict[str, AbstractContextManager[Any]] = {
        "missing": mock.patch(VERSION, side_effect=metadata.PackageNotFoundError),
        "other version": mock.patch(VERSION, return_value="0.17.0"),
        "other loss": mock.patch.dict(
            noise._BUILDERS, {Mechanism.LAPLACE: lambda plan: (None, 0.21)}
        ),
    }
    with faults[fault]:
        assert draw_release(release.pk) is False
    release.refresh_from_db()
    assert release.state == Release.State.RESERVED
    assert "Nothing is lost" in release.problem
    assert draw_release(release.pk) is True
    release.refresh_from_db()
    assert (release.state, release.problem) == (Release.State.DRAWN, "")
    assert ReleaseLedger.objects.get().spent_hundredths == 20


def test_whole_numbers_beyond_32_bits_stay_whole() -> None:
    cells = [2**40, 0, -(2**40)]
    drawn = prepare_sampler(LAPLACE).draw(cells)
    assert all(isinstance(number, int) for number in drawn)
    # With b = 10/3, P(|Z| ≥ 100) is 10⁻¹³.
    assert all(abs(number - cell) < 100 for number, cell in zip(drawn, cells, strict=True))


def test_laplace_noise_is_discrete_laplace() -> None:
    drawn = prepare_sampler(LAPLACE).draw([0] * DRAWS)
    assert (
        chi_squared_p(
            drawn,
            lambda value: float(discrete_laplace_probability(value, scale=LAPLACE.scale)),
            most=15,
        )
        > LEAST_P
    )


def test_gaussian_noise_is_discrete_gaussian() -> None:
    drawn = prepare_sampler(GAUSSIAN).draw([0] * DRAWS)
    variance = float(GAUSSIAN.scale) ** 2
    assert (
        chi_squared_p(
            drawn,
            lambda value: float(discrete_gaussian_probability(value, variance=variance)),
            most=35,
        )
        > LEAST_P
    )


@pytest.mark.parametrize(
    ("plan", "scores"),
    [(LEADER, [52, 50, 45, 40]), (TYPICAL, [-27857, -21429, -5000, -16429, -27857])],
)
def test_choices_are_permute_and_flip(plan: ReleasePlan, scores: list[int]) -> None:
    sampler = prepare_sampler(plan)
    drawn = [sampler.draw(scores) for _ in range(DRAWS // 4)]
    chances = permute_and_flip_probabilities(scores, rate=1 / plan.scale)
    expected = dict(enumerate(chances))
    assert (
        chi_squared_p(drawn, lambda place: expected.get(place, 0.0), most=len(scores) - 1) > LEAST_P
    )
