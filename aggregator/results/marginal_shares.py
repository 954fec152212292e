"""Shares of everyone who was asked: all codes of all symbols side by side.

Their intervals are computed for all codes at once, which is much faster than one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from aggregator.results.estimands import Estimand
from aggregator.results.estimate import Estimate, Interval, Intervals, Levels
from privacy.shares.coverage import choose_method
from privacy.shares.estimation import estimate_marginal_shares, fit_joint_shares
from privacy.shares.intervals import METHODS, Method, simultaneous_level
from privacy.shares.ratios import nested_ratio, ratio_of_shares
from surveys.manifest.questions import ANSWERED, Symbol

# At most one false alarm in a hundred surveys, however often you look.
ALARM_LEVEL = 0.99
# At most five false contradictions in a hundred questions.
CONTRADICTION_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class SymbolCounts:
    """How many reports show each code of a symbol, among those in which it was asked."""

    symbol: Symbol
    cells: Sequence[int]

    @property
    def total(self) -> int:
        return sum(self.cells)

    def count_event(self, estimand: Estimand) -> int:
        return sum(self.cells[code] for code in estimand.event)


def find_alarm_level(symbols: Sequence[Symbol]) -> float:
    """Return the level at which each code is watched."""
    return simultaneous_level(ALARM_LEVEL, shares=_count_codes(symbols))


def find_contradiction_level(symbols: Sequence[Symbol], *, sequences: int) -> float:
    """Return the level at which a question's codes, and its other sequences, are tested.

    Chance then makes any of them empty in at most five of a hundred questions.
    """
    return simultaneous_level(CONTRADICTION_LEVEL, shares=_count_codes(symbols) + sequences)


def _count_codes(symbols: Sequence[Symbol]) -> int:
    """Count all codes; two codes of one symbol count once, as each determines the other."""
    return sum(1 if symbol.k == 2 else symbol.k for symbol in symbols)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ends:
    """Ends of intervals by level (rows) and code (columns)."""

    levels: Sequence[float]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    contradiction: NDArray[np.bool_]
    methods: Sequence[Method]

    def of_code(self, code: int) -> tuple[Interval, ...]:
        method = self.methods[code]
        return tuple(
            Interval(low=low, high=high, level=level, method=method)
            for level, low, high in zip(
                self.levels, self.low[:, code].tolist(), self.high[:, code].tolist(), strict=True
            )
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _CodeIntervals:
    """The intervals of all codes."""

    main: _Ends
    inner: _Ends
    simultaneous: _Ends

    def of_code(self, code: int) -> Intervals:
        (main,), (simultaneous,) = self.main.of_code(code), self.simultaneous.of_code(code)
        return Intervals(main=main, inner=self.inner.of_code(code), simultaneous=simultaneous)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Codes:
    """All codes of all symbols: how many reports show each, and through which channel."""

    successes: NDArray[np.int64]
    total: NDArray[np.int64]
    other_probability: NDArray[np.float64]
    slope: NDArray[np.float64]
    contradiction_level: NDArray[np.float64]

    @classmethod
    def of(
        cls, counts: Sequence[SymbolCounts], contradiction_levels: Mapping[str, float]
    ) -> _Codes:
        sizes = [len(each.cells) for each in counts]
        mechanisms = [each.symbol.mechanism for each in counts]
        return cls(
            successes=np.array([n for each in counts for n in each.cells], dtype=np.int64),
            total=np.repeat([each.total for each in counts], sizes),
            other_probability=np.repeat([each.other_probability for each in mechanisms], sizes),
            slope=np.repeat([each.slope for each in mechanisms], sizes),
            contradiction_level=np.repeat(
                [contradiction_levels[each.symbol.question] for each in counts], sizes
            ),
        )

    def find_intervals(self, levels: Levels, *, fixed_end: bool) -> _CodeIntervals:
        main, simultaneous = levels.main, levels.simultaneous
        return _CodeIntervals(
            main=self._widen_empty(self.find_ends((main,), chosen_at=main, fixed_end=fixed_end)),
            # The same kind as the main interval around them.
            inner=self.find_ends(levels.inner, chosen_at=main, fixed_end=fixed_end),
            simultaneous=self._widen_empty(
                self.find_ends((simultaneous,), chosen_at=simultaneous, fixed_end=fixed_end)
            ),
        )

    def _widen_empty(self, ends: _Ends) -> _Ends:
        """Replace empty intervals by those at the level at which a contradiction is tested.

        Each contains the empty one, so it holds the true share at least as often. What is empty
        at this level too contradicts the design.
        """
        low, high, contradiction = ends.low.copy(), ends.high.copy(), ends.contradiction.copy()
        for row, code in np.argwhere(ends.contradiction).tolist():
            wide = METHODS[ends.methods[code]](
                successes=self.successes[code],
                total=self.total[code],
                other_probability=self.other_probability[code],
                slope=self.slope[code],
                level=max(ends.levels[row], float(self.contradiction_level[code])),
            )
            low[row, code], high[row, code] = wide.low, wide.high
            contradiction[row, code] = wide.contradiction
        return replace(ends, low=low, high=high, contradiction=contradiction)

    def find_ends(self, levels: Sequence[float], *, chosen_at: float, fixed_end: bool) -> _Ends:
        """Find the ends at all levels by the method that is chosen for one level."""
        methods = self._choose_methods(level=chosen_at, fixed_end=fixed_end)
        shape = (len(levels), len(methods))
        low, high, contradiction = np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool)
        for method in set(methods) if levels else ():
            places = np.flatnonzero([chosen == method for chosen in methods])
            intervals = METHODS[method](
                successes=self.successes[places],
                total=self.total[places],
                other_probability=self.other_probability[places],
                slope=self.slope[places],
                level=np.array(levels)[:, None],
            )
            low[:, places], high[:, places] = intervals.low, intervals.high
            contradiction[:, places] = intervals.contradiction
        return _Ends(
            levels=levels, low=low, high=high, contradiction=contradiction, methods=methods
        )

    def _choose_methods(self, *, level: float, fixed_end: bool) -> list[Method]:
        return [
            choose_method(
                total=int(n),
                other_probability=float(c),
                slope=float(d),
                level=level,
                fixed_end=fixed_end,
            )
            for n, c, d in zip(self.total, self.other_probability, self.slope, strict=True)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalShares:
    """The estimated share of every code among all who were asked, with intervals and alarms."""

    counts: Mapping[str, SymbolCounts]  # by symbol
    levels: Levels
    contradiction_levels: Mapping[str, float]  # by question
    places: Mapping[str, range]  # of each symbol's codes
    shares: NDArray[np.float64]
    joint_shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    effective_sample_sizes: NDArray[np.float64]
    intervals: _CodeIntervals
    halved: _CodeIntervals | None  # both intervals of a ratio are needed at half the error
    alarms: Mapping[str, bool]

    @classmethod
    def of(
        cls,
        counts: Mapping[str, SymbolCounts],
        *,
        levels: Levels,
        with_ratios: bool,
        alarm_level: float,
        contradiction_levels: Mapping[str, float],
        fixed_end: bool,
    ) -> MarginalShares:
        ends = [0, *accumulate(len(each.cells) for each in counts.values())]
        places = dict(zip(counts, (range(a, b) for a, b in pairwise(ends)), strict=True))
        codes = _Codes.of(list(counts.values()), contradiction_levels)
        estimates = estimate_marginal_shares(
            successes=codes.successes,
            total=codes.total,
            other_probability=codes.other_probability,
            slope=codes.slope,
        )
        alarm = codes.find_ends((alarm_level,), chosen_at=alarm_level, fixed_end=False)
        return cls(
            counts=counts,
            levels=levels,
            contradiction_levels=contradiction_levels,
            places=places,
            shares=estimates.shares,
            joint_shares=_fit_joint_shares(counts),
            standard_errors=estimates.standard_errors,
            effective_sample_sizes=estimates.effective_sample_sizes,
            intervals=codes.find_intervals(levels, fixed_end=fixed_end),
            halved=(
                codes.find_intervals(levels.halve_errors(), fixed_end=fixed_end)
                if with_ratios
                else None
            ),
            alarms={
                name: bool(alarm.contradiction[0, list(place)].any())
                for name, place in places.items()
            },
        )

    def estimate_share(self, estimand: Estimand) -> Estimate:
        """Estimate the share of one code, or of all codes but one."""
        place, counts = self.places[estimand.symbol], self.counts[estimand.symbol]
        code = place[estimand.single_code(range(len(place)))]
        value, joint = float(self.shares[code]), float(self.joint_shares[code])
        intervals = self.intervals.of_code(code)
        if estimand.is_complement:
            value, joint = 1 - value, 1 - joint
            intervals = intervals.change(Interval.complement)
        return Estimate(
            estimand=estimand,
            total=counts.total,
            count=counts.count_event(estimand),
            value=value,
            joint_value=joint,
            standard_error=float(self.standard_errors[code]),
            effective_sample_size=_positive(float(self.effective_sample_sizes[code])),
            intervals=intervals,
            contradiction=self._contradicts(place),
        )

    def estimate_ratio(self, estimand: Estimand) -> Estimate:
        """Estimate the share of an item among those who answered, from its gate."""
        counts = self.counts[estimand.symbol]
        item = self.places[estimand.symbol][estimand.event[0]]
        gate = self.places[estimand.gate][ANSWERED]
        ratio = nested_ratio(
            part=float(self.shares[item]),
            whole=float(self.shares[gate]),
            part_error=float(self.standard_errors[item]),
            whole_error=float(self.standard_errors[gate]),
            total=self.counts[estimand.gate].total,
        )
        value, error = (None, None) if ratio is None else ratio
        return Estimate(
            estimand=estimand,
            total=counts.total,
            count=counts.count_event(estimand),
            value=value,
            standard_error=error,
            intervals=self._ratio_intervals(item, gate),
            contradiction=self._contradicts([item, gate]),
        )

    def _ratio_intervals(self, item: int, gate: int) -> Intervals:
        assert self.halved is not None
        part, whole = self.halved.of_code(item), self.halved.of_code(gate)
        inner = zip(part.inner, whole.inner, self.levels.inner, strict=True)
        return Intervals(
            main=_ratio(part.main, whole.main, self.levels.main),
            inner=tuple(_ratio(*each) for each in inner),
            simultaneous=_ratio(part.simultaneous, whole.simultaneous, self.levels.simultaneous),
        )

    def _contradicts(self, codes: Sequence[int]) -> bool:
        return bool(self.intervals.main.contradiction[0, list(codes)].any())


def _ratio(part: Interval, whole: Interval, level: float) -> Interval:
    low, high = ratio_of_shares(part=part.ends, whole=whole.ends)
    return Interval(low=low, high=high, level=level, method=f"{part.method}_ratio")


def _positive(size: float) -> float | None:
    """Return None for a share outside (0, 1), which has no effective sample size."""
    return size if np.isfinite(size) and size > 0 else None


def _fit_joint_shares(counts: Mapping[str, SymbolCounts]) -> NDArray[np.float64]:
    """Fit all symbols with the same number of codes in one call."""
    joint: dict[str, NDArray[np.float64]] = {}
    for k in {each.symbol.k for each in counts.values()}:
        alike = {name: each for name, each in counts.items() if each.symbol.k == k}
        mechanisms = [each.symbol.mechanism for each in alike.values()]
        fitted = fit_joint_shares(
            counts=np.array([each.cells for each in alike.values()]),
            other_probability=np.array([each.other_probability for each in mechanisms]),
            slope=np.array([each.slope for each in mechanisms]),
        )
        joint |= zip(alike, fitted, strict=True)
    return np.concatenate([joint[name] for name in counts]) if joint else np.empty(0)
