"""What is estimated from counts, and with which intervals: a pure function of manifest and counts.

Which interval is honest depends on how the wave ended, never on what the reports say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.results.estimands import Estimand, Kind, list_estimands
from privacy.shares.conditional import dirichlet_sequence_share, likelihood_ratio_share
from privacy.shares.coverage import choose_method
from privacy.shares.estimation import estimate_marginal_shares, fit_joint_shares
from privacy.shares.intervals import METHODS, Method, simultaneous_level
from privacy.shares.ratios import nested_ratio, ratio_of_shares
from privacy.shares.scales import estimate_scale_mean
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ANSWERED, ManifestQuestion, Symbol

LEVEL = 0.95
# Shown inside the 95 % interval as guides: narrower ones cover less reliably at small n.
INNER_LEVELS = (0.5, 0.8)
# One false alarm in a hundred surveys at most, however often one looks.
ALARM_LEVEL = 0.99


def compute_estimates(
    *, manifest: Manifest, counts: Sequence[Sequence[int]], fixed_end: bool
) -> list[dict[str, Any]]:
    """Estimate every estimand of every protected question, unclipped, with its allowed interval.

    `counts` are of the columns of the wave's batches. A question that was asked of nobody yet
    has a total of 0 and no estimates.
    """
    symbols = {
        symbol.name: (symbol, cells)
        for symbol, cells in zip(
            manifest.symbols, Columns.of(manifest).read_counts(counts), strict=True
        )
        if symbol.threshold is not None
    }
    asked = {name: pair for name, pair in symbols.items() if sum(pair[1])}
    estimands = list_estimands(manifest)
    if not estimands:
        return []
    level = simultaneous_level(LEVEL, shares=sum(estimand.shown for estimand in estimands))
    levels = {"guides": INNER_LEVELS, "one": (LEVEL,), "together": (level,)}
    halved = any(estimand.gate for estimand in estimands)
    marginal = _Marginals.of(
        asked,
        levels=levels,
        halved=halved,
        alarm_level=_find_alarm_level([symbol for symbol, _ in symbols.values()]),
        fixed_end=fixed_end,
    )
    found = []
    for question in manifest.questions:
        if not question.is_protected:
            continue
        own = [estimand for estimand in estimands if estimand.question == question.name]
        places = [name for name, (symbol, _) in symbols.items() if symbol.question == question.name]
        total = sum(symbols[places[0]][1])
        found.append(
            {
                "name": question.name,
                "total": total,
                "level": LEVEL,
                "together_level": level,
                "figures": [
                    _describe_estimate(estimand, question, asked, marginal, fixed_end=fixed_end)
                    for estimand in own
                    if total
                ],
                "alarm": any(marginal.alarms[name] for name in places if name in asked),
            }
        )
    return found


def _find_alarm_level(symbols: Sequence[Symbol]) -> float:
    """For every code of every symbol; of two codes one says the same as the other."""
    codes = sum(1 if symbol.k == 2 else symbol.k for symbol in symbols)
    return simultaneous_level(ALARM_LEVEL, shares=codes)


def _describe_estimate(
    estimand: Estimand,
    question: ManifestQuestion,
    asked: Mapping[str, tuple[Symbol, list[int]]],
    marginal: _Marginals,
    *,
    fixed_end: bool,
) -> dict[str, Any]:
    symbol, cells = asked[estimand.symbol]
    if estimand.kind is Kind.MEAN and not question.is_rounded:
        found = _scale_mean(question, symbol, cells, marginal.levels, fixed_end=fixed_end)
    elif estimand.gate:
        found = marginal.ratio(estimand)
    elif estimand.among is None:
        found = marginal.share(estimand)
    else:
        found = _conditional(estimand, symbol, cells, marginal.levels, fixed_end=fixed_end)
    if estimand.kind is Kind.MEAN and question.is_rounded:
        found = _stretch(found, question)
    count = sum(cells[code] for code in estimand.event)
    return {"figure": estimand.name, "count": count, "raw_share": count / sum(cells), **found}


# --- shares of everybody who was asked -----------------------------------------------------------
Ends = dict[str, list[tuple[float, float]]]  # by what they are for, one pair for each level


@dataclass(frozen=True, kw_only=True, eq=False)
class _Marginals:
    """All codes of all symbols side by side, so that intervals are found for all at once."""

    levels: Mapping[str, Sequence[float]]
    symbols: Mapping[str, tuple[Symbol, list[int]]]
    columns: Mapping[str, NDArray[Any]]
    places: Mapping[str, range]
    ends: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    methods: Mapping[str, Sequence[Method]]  # of each code, by what for
    contradictions: NDArray[np.bool_]
    alarms: Mapping[str, bool]

    @classmethod
    def of(
        cls,
        symbols: Mapping[str, tuple[Symbol, list[int]]],
        *,
        levels: Mapping[str, Sequence[float]],
        halved: bool,
        alarm_level: float,
        fixed_end: bool,
    ) -> _Marginals:
        sizes = [len(cells) for _, cells in symbols.values()]
        mechanisms = [symbol.mechanism for symbol, _ in symbols.values()]
        places = dict(
            zip(symbols, (range(a, b) for a, b in pairwise([0, *accumulate(sizes)])), strict=True)
        )
        counts = np.array([n for _, cells in symbols.values() for n in cells], dtype=np.int64)
        totals = np.repeat([sum(cells) for _, cells in symbols.values()], sizes)
        c = np.repeat([mechanism.other_probability for mechanism in mechanisms], sizes)
        d = np.repeat([mechanism.slope for mechanism in mechanisms], sizes)
        channel = {"total": totals, "other_probability": c, "slope": d}
        estimates = estimate_marginal_shares(successes=counts, **channel)
        ends, methods = {}, {}
        contradictions = np.zeros(len(counts), dtype=bool)
        wanted = dict(levels)
        if halved:  # the ratio of two shares needs both at half the error
            wanted |= {
                f"half_{name}": [(1 + x) / 2 for x in given] for name, given in levels.items()
            }
        for name, given in wanted.items():
            # Guides are of the same kind as the interval around them.
            chosen_at = wanted[name.replace("guides", "one")][-1]
            low, high, contradiction, methods[name] = _find_intervals(
                counts, **channel, levels=given, chosen_at=chosen_at, fixed_end=fixed_end
            )
            ends[name] = (low, high)
            if name == "one":
                contradictions = contradiction[0]
        _, _, alarm, _ = _find_intervals(
            counts, **channel, levels=(alarm_level,), chosen_at=alarm_level, fixed_end=False
        )
        return cls(
            levels=levels,
            symbols=symbols,
            columns={
                "estimate": estimates.shares,
                "joint_estimate": _fit_jointly(symbols),
                "standard_error": estimates.standard_errors,
                "effective_total": estimates.effective_sample_sizes,
            },
            places=places,
            ends=ends,
            methods=methods,
            contradictions=contradictions,
            alarms={name: bool(alarm[0, list(place)].any()) for name, place in places.items()},
        )

    def share(self, estimand: Estimand) -> dict[str, Any]:
        """One code, or all but one: then everything is turned round."""
        place = self.places[estimand.symbol]
        left_out = sorted(set(range(len(place))) - set(estimand.event))
        turned = len(estimand.event) > 1
        (code,) = left_out if turned else estimand.event
        row = {name: float(column[place[code]]) for name, column in self.columns.items()}
        if turned:
            row |= {name: 1 - row[name] for name in ("estimate", "joint_estimate")}
        ends = {
            name: [
                _turn(float(a), float(b), turned=turned)
                for a, b in zip(low[:, place[code]], high[:, place[code]], strict=True)
            ]
            for name, (low, high) in self.ends.items()
        }
        return {
            **row,
            **_lay_out_ends(ends, self.levels),
            "method": self.methods["one"][place[code]],
            "together_method": self.methods["together"][place[code]],
            "contradiction": bool(self.contradictions[list(place)].any()),
        }

    def ratio(self, estimand: Estimand) -> dict[str, Any]:
        """The share of an item among those who answered, from two symbols' own intervals."""
        item, gate = (
            self.places[estimand.symbol][estimand.event[0]],
            self.places[estimand.gate][ANSWERED],
        )
        ends: Ends = {}
        for name in self.levels:
            low, high = self.ends[f"half_{name}"]
            ends[name] = [
                ratio_of_shares(part=(a, b), whole=(x, y))
                for a, b, x, y in zip(
                    low[:, item].tolist(),
                    high[:, item].tolist(),
                    low[:, gate].tolist(),
                    high[:, gate].tolist(),
                    strict=True,
                )
            ]
        part, whole = (float(self.columns["estimate"][place]) for place in (item, gate))
        part_error, whole_error = (
            float(self.columns["standard_error"][place]) for place in (item, gate)
        )
        found = nested_ratio(
            part=part,
            whole=whole,
            part_error=part_error,
            whole_error=whole_error,
            total=sum(self.symbols[estimand.gate][1]),
        )
        estimate, error = (None, None) if found is None else found
        return {
            "estimate": estimate,
            "joint_estimate": None,
            "standard_error": error,
            "effective_total": None,
            **_lay_out_ends(ends, self.levels),
            "method": f"{self.methods['half_one'][item]}_ratio",
            "together_method": f"{self.methods['half_together'][item]}_ratio",
            "contradiction": bool(self.contradictions[[item, gate]].any()),
        }


def _find_intervals(
    counts: NDArray[np.int64],
    *,
    total: NDArray[np.int64],
    other_probability: NDArray[np.float64],
    slope: NDArray[np.float64],
    levels: Sequence[float],
    chosen_at: float,
    fixed_end: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], list[Method]]:
    """Ends by level (rows) and code (columns), by the method that is chosen for one level."""
    methods = [
        choose_method(
            total=int(n),
            other_probability=float(c),
            slope=float(d),
            level=chosen_at,
            fixed_end=fixed_end,
        )
        for n, c, d in zip(total, other_probability, slope, strict=True)
    ]
    shape = (len(levels), len(methods))
    low, high, contradiction = np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool)
    for method in set(methods):
        places = np.flatnonzero([chosen == method for chosen in methods])
        intervals = METHODS[method](
            successes=counts[places],
            total=total[places],
            other_probability=other_probability[places],
            slope=slope[places],
            level=np.array(levels)[:, None],
        )
        low[:, places], high[:, places] = intervals.low, intervals.high
        contradiction[:, places] = intervals.contradiction
    return low, high, contradiction, methods


def _fit_jointly(symbols: Mapping[str, tuple[Symbol, list[int]]]) -> NDArray[np.float64]:
    """Symbols of one size at once: one call for a survey of yes and no."""
    joint: dict[str, NDArray[np.float64]] = {}
    for k in {symbol.k for symbol, _ in symbols.values()}:
        alike = {name: pair for name, pair in symbols.items() if pair[0].k == k}
        fitted = fit_joint_shares(
            counts=np.array([cells for _, cells in alike.values()]),
            other_probability=np.array([s.mechanism.other_probability for s, _ in alike.values()]),
            slope=np.array([s.mechanism.slope for s, _ in alike.values()]),
        )
        joint |= zip(alike, fitted, strict=True)
    return np.concatenate([joint[name] for name in symbols]) if joint else np.empty(0)


# --- shares of some, and means -------------------------------------------------------------------


def _conditional(
    estimand: Estimand,
    symbol: Symbol,
    cells: Sequence[int],
    levels: Mapping[str, Sequence[float]],
    *,
    fixed_end: bool,
) -> dict[str, Any]:
    assert estimand.among is not None
    estimate = likelihood_ratio_share if fixed_end else dirichlet_sequence_share
    left_out = sorted(set(estimand.among) - set(estimand.event))
    turned = len(estimand.event) > 1
    (code,) = left_out if turned else estimand.event
    found = {
        name: [
            estimate(
                counts=cells,
                mechanism=symbol.mechanism,
                symbol=code,
                among=estimand.among,
                level=level,
            )
            for level in given
        ]
        for name, given in levels.items()
    }
    one = found["one"][0]
    share = one.share if one.share is None or not turned else 1 - one.share
    ends = {
        name: [_turn(each.low, each.high, turned=turned) for each in every]
        for name, every in found.items()
    }
    return {
        "estimate": share,
        "joint_estimate": None,
        "standard_error": one.standard_error,
        "effective_total": None,
        **_lay_out_ends(ends, levels),
        "method": one.method,
        "together_method": found["together"][0].method,
        "contradiction": one.contradiction,
    }


def _scale_mean(
    question: ManifestQuestion,
    symbol: Symbol,
    cells: Sequence[int],
    levels: Mapping[str, Sequence[float]],
    *,
    fixed_end: bool,
) -> dict[str, Any]:
    assert question.minimum is not None
    points = [question.minimum + code for code in range(question.answers)]
    found = {
        name: [
            estimate_scale_mean(
                counts=cells,
                mechanism=symbol.mechanism,
                points=points,
                fixed_end=fixed_end,
                level=level,
            )
            for level in given
        ]
        for name, given in levels.items()
    }
    one = found["one"][0]
    ends = {name: [(each.low, each.high) for each in every] for name, every in found.items()}
    return {
        "estimate": one.mean,
        "joint_estimate": None,
        "standard_error": one.standard_error,
        "effective_total": None,
        **_lay_out_ends(ends, levels),
        "method": one.method,
        "together_method": found["together"][0].method,
        "contradiction": one.contradiction,
    }


def _stretch(found: dict[str, Any], question: ManifestQuestion) -> dict[str, Any]:
    """From the share of ones to the number whose chance of rounding up it is."""
    assert question.minimum is not None
    assert question.maximum is not None
    low, width = question.minimum, question.maximum - question.minimum

    def place(share: float) -> float:
        return min(low + width * share, float(low + width))

    estimate, error = found["estimate"], found["standard_error"]
    return {
        **found,
        "estimate": None if estimate is None else low + width * estimate,
        "joint_estimate": None,
        "standard_error": None if error is None else width * error,
        "effective_total": None,
        "low": place(found["low"]),
        "high": place(found["high"]),
        "together": [place(end) for end in found["together"]],
        "guides": [[level, place(a), place(b)] for level, a, b in found["guides"]],
    }


def _turn(low: float, high: float, *, turned: bool) -> tuple[float, float]:
    return (1 - high, 1 - low) if turned else (low, high)


def _lay_out_ends(ends: Mapping[str, Any], levels: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    def guides() -> Iterator[list[float]]:
        for level, (low, high) in zip(levels["guides"], ends["guides"], strict=True):
            yield [level, low, high]

    ((low, high),) = ends["one"]
    return {
        "low": low,
        "high": high,
        "together": list(ends["together"][0]),
        "guides": list(guides()),
    }
