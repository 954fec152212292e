"""The benchmark's verdict on a storm: each fault alone makes the storm fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from scripts.attacks.storm.storm import Outcome
from scripts.benchmarks.killstorm import judge

CALM: dict[str, Any] = {
    "verdict": SimpleNamespace(is_clean=True),
    "surprises": [],
    "worst_recovery": 4.0,
    "usual_restart": 2.0,
    "recovers_slowly": False,
    "after_broker": 30.0,
}


def faults(*, control_caught: bool = True, **found: Any) -> list[str]:
    outcome = cast(Outcome, SimpleNamespace(**CALM | found))
    return judge(outcome, control_caught=control_caught)


def test_a_good_run_has_no_fault() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ({"verdict": SimpleNamespace(is_clean=False)}, "lost"),
        ({"surprises": ["a reply 500"]}, "no kill explains"),
        ({"control_caught": False}, "not caught"),
        ({"recovers_slowly": True, "worst_recovery": 31.5}, "31.5 s"),
        ({"after_broker": float("inf")}, "broker"),
    ],
)
def test_each_fault_is_named(found: dict[str, Any], word: str) -> None:
    (fault,) = faults(**found)
    assert word in fault


@pytest.mark.parametrize(
    ("worst", "usual", "slow"),
    [(9.9, 1.0, False), (10.0, 1.0, True), (25.0, 9.0, False), (27.0, 9.0, True)],
)
def test_only_a_recovery_that_is_slow_by_both_measures_counts(
    worst: float, usual: float, slow: bool
) -> None:
    outcome = SimpleNamespace(worst_recovery=worst, usual_restart=usual)
    assert cast(Any, Outcome.recovers_slowly).fget(outcome) is slow
