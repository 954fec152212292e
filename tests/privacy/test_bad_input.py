"""Every public function immediately rejects and names a bad argument, and returns no number."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import signal
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf, nan
from types import FrameType
from typing import Any

import numpy as np
import pytest

import privacy
from privacy.associations import (
    claims,
    contradictions,
    known_groups,
    latent_regression,
    maximum_likelihood,
    profiles,
    segments,
    significance,
    tables,
    two_questions,
)
from privacy.associations.tables import Variable
from privacy.central import (
    above_threshold,
    audit,
    calibration,
    composition,
    key_driver,
    median,
    noise,
    points,
    reader,
    selection,
    table,
)
from privacy.central import attacks as central_attacks
from privacy.mechanism import (
    accounting,
    attacks,
    composition_with_delta,
    drawing,
    fake_reports,
    mechanisms,
    shuffling,
    subsampling,
)
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import (
    answerers,
    budgets,
    designs,
    power,
    precision,
    protections,
)
from privacy.shares import (
    alarms,
    conditional,
    coverage,
    estimation,
    intervals,
    looks,
    ratio_cells,
    scales,
    weighting,
)
from privacy.shares.joint import fallback, likelihood, weights
from privacy.shares.joint.cells import JointCells

Row = tuple[Callable[..., Any], dict[str, Any], dict[str, Sequence[Any]]]

CPU_SECONDS = 60.0
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)
PLAIN, REFUSABLE = Variable.plain(COINS), Variable.plain(THREE)
EXPECTED = answerers.expect_answers(share=0.2, refusing=0.1, mechanism=THREE)
CHANNEL = {"other_probability": 0.25, "slope": 0.5}

ENDLESS: list[Any] = [nan, inf, -inf]
COUNT: list[Any] = [
    *ENDLESS,
    -1,
    2.5,
    True,
    np.bool_(True),
    None,
    "1",
]  # bad even if a count may be 0
NUMBER: list[Any] = [*COUNT, 0]  # bad if at least one is needed
SHARE: list[Any] = [*ENDLESS, -1, -1e-9, 1.000001, True, None]
OPEN_HIGH, OPEN_LOW = [*SHARE, 1], [*SHARE, 0]
OPEN: list[Any] = [*SHARE, 0, 1]
POSITIVE: list[Any] = [*ENDLESS, -1, 0, True, None]


def spoil(values: Any, bad: Sequence[Any]) -> list[Any]:
    """Return copies of a list or table, each with a bad first number."""
    if isinstance(values[0], list):
        return [[first, *values[1:]] for first in spoil(values[0], bad)]
    return [[one, *values[1:]] for one in bad]


def counts(values: Any) -> list[Any]:
    """Return invalid tables of counts: bad cells, a wrong shape, or no reports."""
    empty = (np.array(values) * 0).tolist()
    return [*spoil(values, COUNT), [], [*values, values[0]], values[:-1], empty]


def some(values: list[Any]) -> list[Any]:
    """Return bad successes for totals of 10: invalid counts, one above 10, and a wrong shape."""
    return [*spoil(values, [*COUNT, 11]), [*values, 1]]


C_OF_ARRAYS = [*ENDLESS, -0.5, 0.0, 1.0, 1.5, True, [0.25, nan]]
D_OF_ARRAYS = [*ENDLESS, -0.5, 0.0, 0.75, 1.0, True, [0.5, nan]]
OF_CHANNEL: dict[str, Sequence[Any]] = {"other_probability": C_OF_ARRAYS, "slope": D_OF_ARRAYS}

SOME_OF: dict[str, Any] = {"successes": [4, 5], "total": 10, **CHANNEL}
ONE_LOOK: dict[str, Sequence[Any]] = {
    "successes": [*COUNT, 11, *some([4, 5])[:-1]],
    "total": [*COUNT, [10, 3], [10, 10, 10], [10, True]],
    **OF_CHANNEL,
    "level": [*OPEN, [0.5, nan], [0.5, 1.0], [0.5, 0.8, 0.95]],
}
EFFECTIVE: dict[str, Sequence[Any]] = {
    "successes": [nan, inf, -1, True, 10.5],
    "total": [nan, inf, -1, True, 3.5],
}
RATIO: dict[str, Any] = {"counts": [5, 5, 5], "mechanism": THREE, "symbol": 0, "among": [0, 1]}
OF_RATIO: dict[str, Sequence[Any]] = {
    "counts": counts([5, 5, 5]),
    "symbol": [*COUNT, 2, 3, 0.0],
    "among": [[0], [0, 0], [0, 3], [0, 1, 2], [0, True], [0, 1.0], [0, nan], []],
    "level": OPEN,
}
QUESTION: dict[str, Any] = {"total": 50, "level": 0.95, **CHANNEL}
OF_QUESTION: dict[str, Sequence[Any]] = {
    "total": [*COUNT, 10**30],
    "other_probability": [*ENDLESS, -0.5, 0.0, 1.0, True],
    "slope": [*ENDLESS, -0.5, 0.0, 0.75, True],
    "level": OPEN,
}
TABLE = [[25, 25], [20, 30]]
RULED = {"outcome": COINS, "predictor": COINS}
SQUARE = [[0.25, 0.25], [0.25, 0.25]]
PAIR = {"counts": TABLE, "variables": [PLAIN, PLAIN]}
OF_PAIR: dict[str, Sequence[Any]] = {"counts": counts(TABLE), "variables": [[], [PLAIN] * 3]}
GROUPS = {"successes": [4, 5], "totals": [10, 10], "mechanisms": [COINS, COINS]}
OF_GROUPS: dict[str, Sequence[Any]] = {
    "successes": some([4, 5]),
    "totals": [*spoil([10, 10], NUMBER), [10], [10, 10, 10]],
    "mechanisms": [[COINS], []],
    "level": OPEN,
}
FLAT: dict[str, Any] = {"counts": np.array([30, 70]), "channel": np.eye(2)}
OF_FLAT: dict[str, Sequence[Any]] = {
    "counts": [np.array(bad) for bad in ([-1, 70], [nan, 70], [0.5, 70], [0, 0], [30, 70, 9], [])],
    "channel": [np.eye(3), np.eye(2) * nan, -np.eye(2), np.ones(2), np.ones((2, 0))],
}
REGION: dict[str, Any] = {**FLAT, "shares": np.array([0.3, 0.7]), "level": 0.95}
OF_REGION: dict[str, Sequence[Any]] = {
    **OF_FLAT,
    "shares": [np.array(bad) for bad in ([0.3], [0.5, 0.6], [1.5, -0.5], [nan, 0.7])],
    "level": OPEN,
}
SURE: dict[str, Any] = {"mechanism": COINS, "significance": 0.05, "sides": 2}
OF_SURE: dict[str, Sequence[Any]] = {"significance": OPEN, "sides": [0, 3, 1.5, nan, True]}
TWO = {"first": 0.1, "second": 0.4}
OF_TWO: dict[str, Sequence[Any]] = {"first": SHARE, "second": [*SHARE, 0.1]}
ASKED: dict[str, Any] = {"share": 0.2, "asked": 0.3, "refusing": 0.1}
OF_ASKED: dict[str, Sequence[Any]] = {
    "share": SHARE,
    "asked": [share for share in OPEN_LOW if share is not None],
    "refusing": [share for share in OPEN_HIGH if share is not None],
    "parent": [
        [0.5, 0.5],
        [[0.5], [0.5]],
        [[0.5, 0.6], [0.5, 0.5]],
        [[2, 0], [-1, 1]],
        [[nan] * 2],
    ],
}
SPLIT: dict[str, Any] = {"share": 0.2, "people": 9, "questions": 2, "mechanism": COINS}
OF_SPLIT: dict[str, Sequence[Any]] = {"share": SHARE, "people": NUMBER, "questions": NUMBER}
EPSILONS = [[], *spoil([1.0, 1.0], POSITIVE)]
EXACT: list[Any] = [*POSITIVE, 0.5]  # bad where only whole numbers and fractions are accepted
SCORES: dict[str, Any] = {"scores": [3, 1, Fraction(5, 7)], "rate": Fraction(1, 2)}
OF_SCORES: dict[str, Sequence[Any]] = {
    "scores": [*spoil([3, 1], [*ENDLESS, 0.5, True, None]), []],
    "rate": POSITIVE,
}
POINTS: dict[str, Any] = {"counts": [3, 1, 2, 5, 4], "other_probability": Fraction(1, 7)}
OF_POINTS: dict[str, Sequence[Any]] = {
    "counts": [*spoil([3, 1, 2], COUNT), [3], []],
    "other_probability": [*ENDLESS, -1, 0.1, Fraction(1, 5), Fraction(-1, 7), True, None],
    "others": COUNT,
}
DISTRIBUTION = [*spoil([0.2, 0.8], SHARE), [0.2, 0.7], [1.0], [0.2, 0.3, 0.5], []]


def entry(**arguments: Any) -> object:
    return accounting.Entry(**{"name": "a", "epsilon": 1.0, **arguments})


def drawn(*, drawn: Any) -> float:
    ledger = [accounting.Entry(name=name, epsilon=1.0) for name in "abc"]
    return accounting.basic_epsilon(ledger, drawn)


def cumulative(*, per_wave: Any) -> float:
    return accounting.cumulative_epsilon(per_wave)


def level_of_all(*, level: Any, shares: Any) -> float:
    return intervals.simultaneous_level(level, shares=shares)


def displayed(*, epsilon: Any, digits: Any) -> object:
    return mechanisms.round_up_epsilon(epsilon, digits=digits)


def report(*, symbol: Any) -> int:
    return COINS.randomize(symbol)


def adjusted(*, p_values: Any) -> list[float]:
    return significance.adjust_for_multiplicity(p_values)


def profile(**arguments: Any) -> tuple[float, float]:
    good = {**REGION, "estimand": lambda shares: shares[0], "limits": (0, 1)}
    return profiles.profile_interval(**{**good, **arguments})


def joint_share(*, level: Any) -> object:
    cells = JointCells(
        counts=np.array([3, 4]),
        channel=np.eye(2),
        event=np.array([False, True]),
        counted=np.array([True, True]),
    )
    return likelihood.joint_share(cells=cells, level=level)


SWAPPED: dict[str, Any] = {"total": 50, "mechanisms": [COINS]}
OF_SWAPPED: dict[str, Sequence[Any]] = {"total": [*COUNT, 10**30], "mechanisms": [[]]}
SUMS: dict[str, Any] = {
    "channel": [[0.7, 0.3], [0.3, 0.7]],
    "numerator": [0, 1],
    "denominator": [1, 1],
}
OF_SUMS: dict[str, Sequence[Any]] = {
    "channel": [[[nan, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]], [[1, 1], [1, 1]], []],
    "numerator": [*spoil([0, 1], [*ENDLESS, True, None]), [1]],
    "denominator": [*spoil([1, 1], [*ENDLESS, True, None]), [1]],
}
EVENT = {**PAIR, "event": 1, "first": 1, "second": 0}
CATEGORY = [*COUNT, 2, 1.0]
SHUFFLED: dict[str, Any] = {"mechanism": COINS, "people": 10_000}
NO_VARIANCE: list[Any] = [*POSITIVE, 2**42 + 1]
DISTANCE: list[Any] = spoil([3, 4], [*ENDLESS, -1, 0.5, True, None])
VALUES: list[Any] = spoil([3, -4], [*ENDLESS, 0.5, True, None])
PROTECTED: dict[str, Any] = {
    "count": [4, -1],
    "people": 100,
    "codes": 2,
    "noise_variance": 8.0,
    **CHANNEL,
}
SPREAD: dict[str, Any] = {
    "share": 0.3,
    "people": 100,
    "mechanism_k": 2,
    "noise_variance": 8.0,
    **CHANNEL,
}
NOISY_SCALE: dict[str, Any] = {
    "counts": [40, -1, 9],
    "points": [1, 2, 3],
    "noise_variance": 8.0,
    **CHANNEL,
}
OF_PROTECTED: dict[str, Sequence[Any]] = {
    "other_probability": [*ENDLESS, -0.5, 1.0, True, None],
    "slope": [*ENDLESS, -0.5, 0.0, 0.76, True, None],
    "noise_variance": [*ENDLESS, -1, True, None],
}
SCALE_OF: dict[str, Any] = {"counts": [5, 5, 5], "mechanism": THREE, "points": [1, 2]}
OF_SCALE: dict[str, Sequence[Any]] = {
    "counts": counts([5, 5, 5]),
    "points": [*spoil([1, 2], [*ENDLESS, True, None, 2, 3]), [], [1], [1, 2, 3, 4]],
    "level": OPEN,
}
ROW: dict[str, Any] = {
    "counts": np.array([5.0, 5, 5]),
    "numerator": np.array([2.0, -1, -1]),
    "denominator": np.array([2.0, 2, -1]),
}
SHARES = ratio_cells.conditional_cells(counts=[5, 5, 5], mechanism=THREE, event=[0], among=[0, 1])
REPORTS = {"reports": [0, 1, 1], "weights": [1, 1, 2], "mechanism": COINS}
WEIGHTS = [[-1, 1, 1], [0, 0, 0], [nan, 1, 1], [inf, 1, 1], [1, 1], []]
RECONSTRUCTED = {"bits": [1, 0, 0, 1], "groups": 8, "smallest": 1, "scale": 2.0}

PROTECTION = {"protection": protections.Protection.SHUFFLED, "share": 0.2, "epsilon": 1.0}
OF_PROTECTION: dict[str, Sequence[Any]] = {
    "protection": [*ENDLESS, "trust", None],
    "share": SHARE,
    "epsilon": [*POSITIVE, 1e-8, 23.0],
    "answers": [*NUMBER, 1, 3, 65],
    "delta": OPEN,
}

ROWS: list[Row] = [
    (RandomizedResponse, {"symbols": 2, "threshold": 3 * 2**30}, {
        "symbols": [*COUNT, 0, 1, 65, 2.0],
        "threshold": [*COUNT, 0, SCALE // 2, SCALE, 3.0 * 2**30],
    }),
    (RandomizedResponse.from_flips, {"symbols": 2, "flips": 25}, {
        "symbols": [*COUNT, 0, 1, 65], "flips": [*COUNT, 0, 50, 25.0],
    }),
    (RandomizedResponse.from_epsilon, {"symbols": 2, "epsilon": 1.0}, {
        "symbols": [*COUNT, 0, 1, 65], "epsilon": [*POSITIVE, 1e-12],
    }),
    (report, {"symbol": 1}, {"symbol": [*COUNT, 2, 1.0]}),
    (drawing.round_to_bit, {"value": 1, "minimum": 0, "maximum": 2}, {
        "value": [*COUNT, 3, 1.0], "minimum": [*ENDLESS, 2, 0.0], "maximum": [*COUNT, 0, 2**20],
    }),
    (drawing.draw_blocks, {"blocks": 3, "drawn": 2}, {
        "blocks": [*ENDLESS, 3.0, True, None], "drawn": [*NUMBER, 4, 2.0],
    }),
    (displayed, {"epsilon": 1.0, "digits": 2}, {
        "epsilon": [*ENDLESS, -1, True], "digits": [*COUNT, 2.0],
    }),
    (estimation.estimate_marginal_shares, SOME_OF, {
        "successes": some([4, 5])[:-1], "total": [*NUMBER, [10, 3], [10, 10, 10]], **OF_CHANNEL,
    }),
    (estimation.fit_joint_shares, {"counts": [[4, 6], [5, 5]], **CHANNEL}, {
        "counts": [*spoil([[4, 6], [5, 5]], COUNT), [[0, 0], [5, 5]], [], 5],
        **OF_CHANNEL,
        "slope": [*D_OF_ARRAYS, 0.4, [0.5, 0.5, 0.5]],
    }),
    *((find, SOME_OF, ONE_LOOK) for find in intervals.METHODS.values()),
    (looks.critical_values, {"times": [0.1, 0.2]}, {
        "times": [*spoil([0.1, 0.2], [*ENDLESS, -1, 0, None]), [0.2, 0.1]], "error": OPEN,
    }),
    (looks.repeated_level, {"level": 0.95, "times": [0.1, 0.2]}, {
        "level": OPEN, "times": [[0.2, 0.1]],
    }),
    (looks.planned_times, {"time": 1.0}, {"time": POSITIVE}),
    (looks.spent_error, {"time": 1.0}, {"time": POSITIVE}),
    (fallback.cautious_level, {"level": 0.95}, {"level": OPEN}),
    (intervals.likelihood_ratio, {**SOME_OF, "effective": True}, EFFECTIVE),
    (intervals.clopper_pearson, {**SOME_OF, "effective": True}, EFFECTIVE),
    (level_of_all, {"level": 0.95, "shares": 2}, {"level": OPEN, "shares": NUMBER}),
    (coverage.exact_coverage, {**QUESTION, "shares": 0.5, "method": "likelihood_ratio"}, {
        **OF_QUESTION,
        "total": [*NUMBER, 10**30],
        "shares": [*SHARE, [0.5, nan]],
        "method": ["wald", None],
    }),
    (coverage.choose_fixed_end_method, QUESTION, OF_QUESTION),
    (coverage.choose_fixed_end_method, {**QUESTION, "total": 1}, {"total": [True, 1.0]}),
    (conditional.likelihood_ratio_share, RATIO, OF_RATIO),
    (scales.relaxed_likelihood_interval, {"cells": SHARES, "level": 0.95}, {"level": OPEN}),
    (ratio_cells.RatioCells, ROW, {
        "counts": [*spoil([5, 5, 5], COUNT), [], [[5, 5, 5]], [0, 0, 0]],
        "numerator": [*spoil([2, -1, -1], [*ENDLESS, True, None]), [2, -1]],
        "denominator": [*spoil([2, -1, -1], [*ENDLESS, True, None]), [2, -1]],
    }),
    (ratio_cells.conditional_cells, {
        "counts": [5, 5, 5], "mechanism": THREE, "event": [0], "among": [0, 1],
    }, {
        "counts": counts([5, 5, 5]),
        "event": [[], [2], [0, 0], [True], [0.0], [nan]],
        "among": [[], [0, 0], [0, 3], [0, True], [0, 1.0], [0, nan]],
    }),
    (ratio_cells.scale_cells, SCALE_OF, {
        name: bad for name, bad in OF_SCALE.items() if name != "level"
    }),
    (joint_share, {"level": 0.95}, {"level": OPEN}),
    (fallback.joint_share_covers, SWAPPED, OF_SWAPPED),
    (fallback.relaxed_likelihood_covers, {**SWAPPED, "at_looks": True}, OF_SWAPPED),
    (weights.efficient_weights, {**SUMS, "reported": [0.5, 0.5]}, {
        **OF_SUMS, "reported": [*spoil([0.5, 0.5], [*ENDLESS, -1, 0, True, None]), [[0.5, 0.5]]],
    }),
    (weights.fixed_weights, {**SUMS, "asked": np.array([True, False])}, {
        **OF_SUMS, "asked": [np.array(bad) for bad in ([True], [1, 0], [])],
    }),
    (Variable, {"mechanism": THREE, "categories": ((0,), (1, 2)), "answered": 1}, {
        "categories": [((0,), (1,)), ((0,), (True, 2)), ((0,), (1.0, 2)), ((0, 1, 2), ())],
        "answered": [*NUMBER, 3],
    }),
    (claims.count_possible_claims, {"claims": 10, "misses": 2}, {
        "claims": NUMBER, "misses": NUMBER,
    }),
    (contradictions.find_contradiction, PAIR, {
        "counts": counts(TABLE), "variables": [[]], "level": OPEN,
    }),
    (tables.estimate_table, PAIR, {"counts": counts(TABLE), "variables": [[]]}),
    (tables.prepare_table, PAIR, {"counts": counts(TABLE), "variables": [[]]}),
    (alarms.find_contradictions, {**SOME_OF, "level": 0.95}, ONE_LOOK),
    (maximum_likelihood.maximize_likelihood, FLAT, {**OF_FLAT, "tolerance": POSITIVE}),
    (maximum_likelihood.check_table, FLAT, OF_FLAT),
    (profile, {}, {**OF_REGION, "limits": [(1, 0), (0, 0), (nan, 1)]}),
    (profiles.LikelyShares, REGION, {
        **OF_REGION, "parts": [[np.ones(3, dtype=bool)]], "spent": [*ENDLESS, -1],
    }),
    (segments.find_segments, {"shares": SQUARE, "segments": 2}, {
        "shares": [*spoil(SQUARE, SHARE), [0.5, 0.5], [[1.0]], [[0.5, 0.5]], [[0, 0], [0, 1]]],
        "segments": [*NUMBER, 1, 4],
    }),
    (segments.estimate_segments, {**PAIR, "counts": TABLE, "segments": 2, "draws": 9}, {
        "counts": counts(TABLE), "variables": [[]], "segments": [*NUMBER, 1, 4], "draws": NUMBER,
    }),
    (significance.independence_test, PAIR, OF_PAIR),
    (significance.latent_independence_test, PAIR, OF_PAIR),
    (significance.homogeneity_test, {"counts": TABLE}, {
        "counts": [*spoil(TABLE, COUNT), [[0, 0], [0, 0]], [[1, 2]], [1, 2], []],
    }),
    (adjusted, {"p_values": [0.1, 0.2]}, {"p_values": spoil([0.1, 0.2], SHARE)}),
    (two_questions.associate, EVENT, {
        **OF_PAIR, "event": CATEGORY, "first": CATEGORY, "second": [*CATEGORY, 1], "level": OPEN,
        "supposed": OPEN,
    }),
    (known_groups.compare_groups, GROUPS, OF_GROUPS),
    (known_groups.pool_strata, GROUPS, OF_GROUPS),
    (latent_regression.fit_latent_logistic, {"counts": TABLE, "variables": [PLAIN, PLAIN]}, {
        "counts": counts(TABLE),
        "variables": [[]],
        "trends": [[0], [2], [1.5]],
        "names": [["a"]],
        "level": OPEN,
    }),
    (weighting.post_stratify, {"estimates": [0.1, 0.4], "variances": [1, 1], "weights": [3, 1]}, {
        "estimates": [[nan, 0.4], [inf, 0.4], [0.1], []],
        "variances": [[nan, 1], [inf, 1], [-1, 1], [1], []],
        "weights": [[nan, 1], [inf, 1], [-inf, 1], [-1, 1], [0, 0], [1], []],
    }),
    (weighting.weighted_share, REPORTS, {
        "reports": [[nan, 1, 1], [2, 1, 1], [-1, 1, 1], [0.5, 1, 1], []], "weights": WEIGHTS,
    }),
    (attacks.posterior, {"share": 0.1, "mechanism": COINS}, {"share": [*SHARE, *DISTRIBUTION]}),
    (attacks.attacker_success, {"shares": [0.2, 0.8], "mechanism": COINS}, {
        "shares": DISTRIBUTION,
    }),
    (fake_reports.robustness_band, {
        "low": 0.1, "high": 0.2, "fake_share": 0.1, "mechanism": COINS,
    }, {
        "low": [*ENDLESS, -0.51, 0.3], "high": [*ENDLESS, 1.51, 0.0], "fake_share": OPEN_HIGH,
    }),
    (precision.half_width, {"share": 0.2, "people": 9, "mechanism": COINS}, {
        "share": SHARE, "people": [*NUMBER, 9.0], "level": OPEN,
    }),
    (precision.watched_half_width, {"share": 0.2, "people": 9, "mechanism": COINS}, {
        "share": SHARE, "people": NUMBER, "level": OPEN, "expected": POSITIVE[:-1],
    }),
    (precision.people_for_half_width, {"share": 0.2, "half_width": 0.1, "mechanism": COINS}, {
        "share": SHARE, "half_width": OPEN, "level": OPEN,
    }),
    (precision.people_for_watched_half_width, {
        "share": 0.2, "half_width": 0.1, "mechanism": COINS,
    }, {"share": SHARE, "half_width": OPEN, "level": OPEN}),
    (answerers.expect_answers, {**ASKED, "mechanism": FOUR}, {
        **OF_ASKED, "mechanism": [COINS, THREE],
        "answers": [answers for answers in (*COUNT, 1, 3) if answers is not None],
    }),
    (answerers.expect_item, {**ASKED, "mechanism": COINS, "gate": THREE}, {
        **OF_ASKED, "mechanism": [THREE], "gate": [COINS, FOUR],
    }),
    (answerers.people_for_ratio_half_width, {"reports": EXPECTED, "half_width": 0.1}, {
        "half_width": OPEN, "level": OPEN,
    }),
    (answerers.ratio_half_width, {"reports": EXPECTED, "people": 9}, {
        "people": NUMBER, "level": OPEN,
    }),
    (answerers.assume_share, {
        "channel": np.eye(3), "numerator": [1, 0, 0], "denominator": [1, 1, 0], "counted": 0.9,
        "share": 0.2,
    }, {"numerator": [[0, 0, 0], [1, 1, 0]], "counted": [*SHARE, 0], "share": SHARE}),
    (precision.watched_level, {}, {"level": OPEN, "time": POSITIVE}),
    (designs.design_effect, {"share": 0.2, "mechanism": COINS}, {"share": OPEN}),
    (designs.mean_variance_ratio, {"shares": [0.2, 0.8], "mechanism": COINS}, {
        "shares": DISTRIBUTION,
    }),
    (designs.subset_selection_ratio, {"symbols": 3, "epsilon": 1.0, "share": 0.2}, {
        "symbols": [*NUMBER, 1, 65], "epsilon": POSITIVE, "share": OPEN,
    }),
    (protections.protected_standard_error, {**PROTECTION, "people": 9}, {
        **OF_PROTECTION, "people": NUMBER,
    }),
    (protections.people_for_protected_standard_error, {**PROTECTION, "standard_error": 0.1}, {
        **OF_PROTECTION, "standard_error": OPEN,
    }),
    (precision.one_report_spread, {"share": 0.2, "mechanism": COINS}, {"share": SHARE}),
    (power.power_two_samples, {**TWO, **SURE, "people": 9}, {
        **OF_TWO, **OF_SURE, "people": NUMBER,
    }),
    (power.people_for_power_two_samples, {**TWO, **SURE}, {**OF_TWO, **OF_SURE, "power": OPEN}),
    (budgets.full_standard_error, {"share": 0.2, "people": 9, "mechanism": COINS}, {
        "share": SHARE, "people": NUMBER,
    }),
    (budgets.split_standard_error, SPLIT, OF_SPLIT),
    (budgets.subset_standard_error, SPLIT, {**OF_SPLIT, "drawn": [*NUMBER, 3]}),
    (budgets.question_fraction, {"drawn": 1, "questions": 2}, {
        "drawn": [*NUMBER, 3], "questions": NUMBER,
    }),
    (budgets.pair_fraction, {"drawn": 1, "questions": 2}, {
        "drawn": [*NUMBER, 3], "questions": [*NUMBER, 1],
    }),
    (entry, {}, {"epsilon": POSITIVE}),
    (drawn, {"drawn": 1}, {"drawn": [x for x in (*NUMBER, 4) if x is not None]}),
    (cumulative, {"per_wave": [1.0, 1.0]}, {"per_wave": EPSILONS}),
    (composition_with_delta.exact_delta, {"epsilons": [1.0], "epsilon": 0.5}, {
        "epsilons": EPSILONS, "epsilon": [*ENDLESS, -1, True],
    }),
    (composition_with_delta.exact_composition, {"epsilons": [1.0], "delta": 0.1}, {
        "epsilons": EPSILONS, "delta": OPEN,
    }),
    (composition_with_delta.advanced_composition, {"epsilon": 1.0, "count": 2, "delta": 0.1}, {
        "epsilon": POSITIVE, "count": NUMBER, "delta": OPEN,
    }),
    (composition_with_delta.zcdp_composition, {"epsilons": [1.0], "delta": 0.1}, {
        "epsilons": EPSILONS, "delta": OPEN,
    }),
    (central_attacks.success_bound, {"epsilon": 0.5, "delta": 1e-6}, {
        "epsilon": [*ENDLESS, -1, True, None], "delta": SHARE,
    }),
    (central_attacks.differencing_success, {"scale": 2.0}, {
        "scale": [*ENDLESS, -1, True, None], "noisy_figures": [*NUMBER, 3],
    }),
    (central_attacks.needle_log_ratio, {"published": [4, 0], "others": [3, 1], "scale": 2.0}, {
        "published": [[4, 0.5], [4, nan], [4, True], 4, [4, 0, 1], []],
        "others": [*spoil([3, 1], COUNT), [3], [3, 1, 0], 3, []],
        "scale": [*ENDLESS, -1, True, None],
    }),
    (central_attacks.needle_success, {"symbols": 2, "scale": 2.0}, {
        "symbols": [*NUMBER, 10**30], "scale": [*ENDLESS, -1, True, None],
    }),
    (central_attacks.reconstruct, RECONSTRUCTED, {
        "bits": [*spoil([1, 0, 0, 1], [*COUNT, 2]), [], [1], [[1, 0]], [1] * 1001],
        "groups": [*NUMBER, 10**30],
        "smallest": [*NUMBER, 3],
        "scale": [*ENDLESS, -1, True, None, 1e300],
        "runs": [*NUMBER, 10**30],
        "seed": [*ENDLESS, -1, 2.5, True, None],
    }),
    (noise.discrete_laplace_probability, {"value": [3, -4], "scale": 2.0}, {
        "value": VALUES, "scale": POSITIVE,
    }),
    (noise.discrete_laplace_tail, {"value": [3, 4], "scale": 2.0}, {
        "value": DISTANCE, "scale": POSITIVE,
    }),
    (noise.discrete_laplace_variance, {"scale": 2.0}, {"scale": [*POSITIVE, 1e200]}),
    (noise.discrete_laplace_bound, {"scale": 2.0}, {"scale": POSITIVE, "level": OPEN}),
    (noise.simultaneous_bound, {"scale": 2.0, "cells": 9}, {
        "scale": POSITIVE, "cells": NUMBER, "level": OPEN,
    }),
    (noise.discrete_gaussian_probability, {"value": [3, -4], "variance": 2.0}, {
        "value": VALUES, "variance": POSITIVE,
    }),
    (noise.discrete_gaussian_tail, {"value": [3, 4], "variance": 2.0}, {
        "value": DISTANCE, "variance": NO_VARIANCE,
    }),
    (noise.discrete_gaussian_variance, {"variance": 2.0}, {"variance": POSITIVE}),
    (calibration.analytic_gaussian_scale, {"epsilon": 1.0, "delta": 1e-6}, {
        "epsilon": POSITIVE, "delta": OPEN, "sensitivity": POSITIVE,
    }),
    (calibration.discrete_gaussian_delta,
     {"variance": 9, "squared_sensitivity": 2, "epsilon": 1.0},
     {"variance": NO_VARIANCE, "squared_sensitivity": [*NUMBER, 4097],
      "epsilon": [*ENDLESS, -1, True, None]}),
    (calibration.gaussian_rho, {"variance": 9, "squared_sensitivity": 2}, {
        "variance": [*POSITIVE, 1e-320], "squared_sensitivity": NUMBER,
    }),
    (calibration.choose_table_noise, {"symbols": 9, "epsilon": 1.0, "delta": 1e-6}, {
        "symbols": [*NUMBER, 4097], "epsilon": [*POSITIVE, 1e-300], "delta": OPEN_HIGH,
    }),
    (composition.pure_rho, {"epsilon": 1.0}, {"epsilon": [*POSITIVE, 1e200]}),
    (composition.zcdp_epsilon, {"rho": 0.1, "delta": 1e-6}, {
        "rho": [*ENDLESS, -1, True, None], "delta": OPEN,
    }),
    (composition.advanced_sum, {"epsilons": [1.0], "delta": 0.1}, {
        "epsilons": EPSILONS, "delta": OPEN,
    }),
    (composition.parallel_epsilon, {"epsilons": [1.0]}, {"epsilons": EPSILONS}),
    (composition.group_delta, {"epsilon": 0.5, "delta": 1e-6, "people": 3}, {
        "epsilon": POSITIVE, "delta": SHARE, "people": NUMBER,
    }),
    (reader.reader_epsilon, {"mechanism": THREE, "epsilon": 0.5}, {
        "epsilon": [*ENDLESS, -1, True, None],
    }),
    (reader.reader_epsilon_by_distance, {"distance": 0.5, "epsilon": 0.5}, {
        "distance": SHARE, "epsilon": [*ENDLESS, -1, True, None],
    }),
    (reader.exact_count_delta, {"mechanism": COINS, "people": 9, "epsilon": 0.5}, {
        "mechanism": [THREE], "people": NUMBER, "epsilon": [*ENDLESS, -1, True, None],
    }),
    (reader.exact_count_epsilon, {"mechanism": COINS, "people": 9, "delta": 0.1}, {
        "mechanism": [THREE], "people": NUMBER, "delta": OPEN,
    }),
    (reader.strength_for_reader, {"people": 9, "epsilon": 0.5, "delta": 0.1}, {
        "people": NUMBER, "epsilon": [*POSITIVE, 1e-12], "delta": OPEN,
    }),
    (table.table_standard_error, SPREAD, {
        **OF_PROTECTED, "share": SHARE, "people": NUMBER, "mechanism_k": [*NUMBER, 1],
    }),
    (table.table_interval, PROTECTED, {
        **OF_PROTECTED,
        "count": [*spoil([4, -1], [*ENDLESS, 0.5, True, None]), [[1, 2], [3]]],
        "people": [*NUMBER, [100, 100, 100], [100, 0]],
        "codes": [*NUMBER, 1], "level": OPEN,
    }),
    (points.table_mean, NOISY_SCALE, {
        "counts": [
            *spoil([40, -1, 9], [*ENDLESS, 0.5, True, None]), [40, 9], [0, 0, 0], [-9, 1, 2],
        ],
        "points": [*spoil([1, 2, 3], [*ENDLESS, None]), [2, 2, 2]],
        "other_probability": [*SHARE, 1], "slope": [*ENDLESS, -1, 0, 1.1, True, None],
        "noise_variance": [*ENDLESS, -1, True, None], "level": OPEN,
    }),
    (table.least_people, {"scale": 2.0}, {"scale": POSITIVE, "mechanism": ["staircase", None]}),
    (audit.audited_epsilon, {"hits": 60, "other_hits": 40, "runs": 100}, {
        "hits": [*COUNT, 101], "other_hits": [*COUNT, 101], "runs": NUMBER,
        "delta": OPEN_HIGH, "level": OPEN,
    }),
    (selection.selection_rate, {"epsilon": Fraction(1, 2)}, {
        "epsilon": EXACT, "sensitivity": EXACT,
    }),
    (selection.permute_and_flip_probabilities, SCORES, OF_SCORES),
    (selection.exponential_mechanism_probabilities, SCORES, OF_SCORES),
    (selection.selection_bound,
     {"sensitivity": 1, "epsilon": 1.0, "candidates": 5, "level": 0.95},
     {"sensitivity": POSITIVE, "epsilon": POSITIVE, "candidates": NUMBER, "level": OPEN}),
    (above_threshold.least_surpassing_count,
     {"people": [10, 20], "share": 0.35, "level": 0.95},
     {"people": [[-1], [1.5], [nan]], "share": OPEN, "level": OPEN}),
    (above_threshold.above_threshold_scales, {"epsilon": 1.0}, {"epsilon": POSITIVE}),
    (above_threshold.first_alert_probabilities,
     {"distances": [1, 2], "threshold": 3, "epsilon": 1.0},
     {"distances": [[], [1.5]], "threshold": [1.5, True, nan], "epsilon": POSITIVE}),
    (above_threshold.choose_alert_threshold,
     {"looks": 10, "epsilon": 1.0, "level": 0.95},
     {"looks": NUMBER, "epsilon": POSITIVE, "level": OPEN}),
    (above_threshold.noticed_share,
     {"people": 3000, "line": 0.2, "level": 0.95, "threshold": 37, "epsilon": 1.0, "chance": 0.9,
      **CHANNEL},
     {"people": NUMBER, "line": OPEN, "level": OPEN, "threshold": [1.5, nan], "epsilon": POSITIVE,
      "chance": OPEN}),
    (key_driver.list_rules, {"predictors": 3}, {"predictors": NUMBER}),
    (key_driver.rule_scores,
     {"agreeing": [4, 5], "yes": 3, "total": 10, "predictors": [COINS, COINS]}, {
        "agreeing": [*some([4, 5]), [4], []], "yes": [*COUNT, 11], "total": COUNT,
        "predictors": [[], [COINS], [COINS, THREE]],
    }),
    (key_driver.agreement_channel, RULED, {"outcome": [THREE], "predictor": [THREE]}),
    (key_driver.estimate_rule, {**RULED, "table": TABLE, "says_same": True}, {
        "outcome": [THREE], "predictor": [THREE], "noise_variance": [*ENDLESS, -1, True],
        "table": [*spoil(TABLE, [*ENDLESS, 2.5, True, None]), [], [[1, 2]], [[0, 0], [0, 0]]],
    }),
    (median.median_scores, POINTS, OF_POINTS),
    (median.median_sensitivity, {"points": 5, "other_probability": Fraction(1, 7)}, {
        "points": [*NUMBER, 1], "other_probability": OF_POINTS["other_probability"],
    }),
    (median.scaled_scores, POINTS, {**OF_POINTS, "factor": NUMBER}),
    (median.scaled_sensitivity, {"points": 5, "other_probability": Fraction(1, 7)}, {
        "points": [*NUMBER, 1], "other_probability": OF_POINTS["other_probability"],
        "factor": NUMBER,
    }),
    (subsampling.subsampled_epsilon, {"epsilon": 1.0, "fraction": 0.5}, {
        "epsilon": POSITIVE, "fraction": OPEN_LOW,
    }),
    (shuffling.shuffle_delta, {**SHUFFLED, "epsilon": 0.1}, {
        "people": NUMBER, "epsilon": [*ENDLESS, -1, True],
    }),
    (shuffling.shuffle_epsilon, {**SHUFFLED, "delta": 1e-6}, {"people": NUMBER, "delta": OPEN}),
    (shuffling.shuffle_epsilon_closed_form, {**SHUFFLED, "delta": 1e-6}, {
        "people": [*NUMBER, 9], "delta": OPEN,
    }),
]  # fmt: skip

# These are called by a function above, or have no argument that can be wrong on its own.
ELSEWHERE = {
    "Entry", "adjust_for_multiplicity", "basic_epsilon", "check_design", "check_names",
    "check_counts", "check_joint_channel",
    "check_pair", "check_rank", "check_rows", "check_summed_variance", "cumulative_epsilon",
    "explain_separation", "difference_of_intervals", "draw_report", "find_telling", "group_rows",
    "maximize", "normal_quantile", "pick_largest", "profile_interval",
    "reported_share", "rest_probability", "rotate_design", "round_up_epsilon",
    "round_up_fraction", "round_up_people", "round_up_sum", "search_ends", "simultaneous_level",
    "statement_epsilons", "tail_significance",
}  # fmt: skip
NOTHING_TO_REFUSE = {
    "binomial", "find_contrasts", "gaussian_terms", "kronecker", "log_likelihood_of",
    "one_report_ratio_spread", "secure_uint32", "smallest_number",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    """Fail a test that does not return, instead of waiting for it."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {CPU_SECONDS} seconds of CPU")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: name_of(row[0]))
def test_good_arguments_are_accepted(row: Row) -> None:
    function, good, _ = row
    function(**good)


@pytest.mark.parametrize(
    ("function", "good", "argument", "value"),
    [
        pytest.param(function, good, argument, value, id=f"{name_of(function)}-{argument}-{value}")
        for function, good, bad in ROWS
        for argument, values in bad.items()
        for value in values
    ],
)
def test_an_error_names_the_bad_argument(
    function: Callable[..., Any], good: dict[str, Any], argument: str, value: Any
) -> None:
    integers_only = getattr(function, "__module__", "").startswith(
        ("privacy.mechanism.mechanisms", "privacy.mechanism.drawing")
    )
    documented = (ValueError, TypeError) if integers_only or function is report else ValueError
    with pytest.raises(documented) as refused:
        function(**{**good, argument: value})
    assert argument in str(refused.value)
    assert len(str(refused.value)) < 300


def test_numpy_numbers_are_accepted_as_numbers() -> None:
    whole: Any = np.int64(9)
    half: Any = np.float32(0.5)
    counts: Any = np.array([5.0, 4.0])
    assert precision.half_width(share=half, people=whole, mechanism=COINS) == (
        precision.half_width(share=0.5, people=9, mechanism=COINS)
    )
    assert attacks.posterior(share=half, mechanism=COINS) == 0.75
    assert accounting.basic_epsilon([accounting.Entry(name="a", epsilon=half)]) > 0.5
    found = estimation.fit_joint_shares(counts=counts, other_probability=0.25, slope=half)
    assert found.sum() == 1


def test_every_public_function_is_in_the_table() -> None:
    public = {
        name
        for module in pkgutil.walk_packages(privacy.__path__, prefix="privacy.")
        if module.name != "privacy.checks"
        for name, item in vars(importlib.import_module(module.name)).items()
        if (inspect.isfunction(item) or hasattr(item, "cache_info"))
        and item.__module__ == module.name
        and not name.startswith("_")
    }
    covered = {function.__name__ for function, _, _ in ROWS}
    assert len(public) > 60
    assert public - covered == (ELSEWHERE | NOTHING_TO_REFUSE) & public
