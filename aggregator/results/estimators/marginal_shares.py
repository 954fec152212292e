"""Shares of everyone, computed for all codes of all symbols together, and the alarms they raise.

Computing the intervals of all codes at once is much faster than computing them one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aggregator.results.estimands import Estimand
from aggregator.results.estimate import Estimate, Interval, Intervals, Levels
from aggregator.results.estimators.counted import Event, SymbolCounts
from privacy.planning.precision import normal_quantile
from privacy.shares.alarms import find_contradictions
from privacy.shares.coverage import choose_fixed_end_method
from privacy.shares.estimation import estimate_marginal_shares, fit_joint_shares
from privacy.shares.intervals import METHODS, Method, simultaneous_level
from surveys.manifest.questions import Symbol
from surveys.planning.figures import COMPARED_AT

# At most one survey in a hundred has a false alarm, at all looks together.
ALARM_LEVEL = 0.99
# At most five questions in a hundred have a false contradiction.
CONTRADICTION_LEVEL = 0.95


def find_alarm_level(symbols: Sequence[Symbol]) -> float:
    """Return the level at which each code is tested for an alarm, at all looks together."""
    return simultaneous_level(ALARM_LEVEL, shares=_count_codes(symbols))


def find_contradiction_level(symbols: Sequence[Symbol], *, others: int) -> float:
    """Return the level at which a question's codes, and its other intervals, are tested.

    By chance, at most five questions in a hundred then have an empty interval.
    """
    return simultaneous_level(CONTRADICTION_LEVEL, shares=_count_codes(symbols) + others)


def _count_codes(symbols: Sequence[Symbol]) -> int:
    """Count all codes, but only one code of a symbol with two, as each determines the other."""
    return sum(1 if symbol.k == 2 else symbol.k for symbol in symbols)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ends:
    """Ends of intervals by level (rows) and code (columns)."""

    levels: Sequence[float]
    critical_values: Sequence[float]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    contradiction: NDArray[np.bool_]
    methods: Sequence[Method]

    def of_code(self, code: int) -> tuple[Interval, ...]:
        method = self.methods[code]
        return tuple(
            Interval(low=low, high=high, level=level, method=method, critical_value=c)
            for level, c, low, high in zip(
                self.levels,
                self.critical_values,
                self.low[:, code].tolist(),
                self.high[:, code].tolist(),
                strict=True,
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
    """Codes or sums of codes, each with the number of reports that show it and with its channel."""

    successes: NDArray[np.int64]
    total: NDArray[np.int64]
    other_probability: NDArray[np.float64]
    slope: NDArray[np.float64]
    contradiction_level: NDArray[np.float64]
    levels: Levels

    @classmethod
    def of(
        cls,
        events: Sequence[Event],
        counts: Mapping[str, SymbolCounts],
        contradiction_levels: Mapping[str, float],
        levels: Levels,
    ) -> _Codes:
        own = [counts[event.symbol] for event in events]
        mechanisms = [each.symbol.mechanism for each in own]
        sizes = np.array([len(event.codes) for event in events])
        return cls(
            successes=np.array(
                [each.count(event.codes) for event, each in zip(events, own, strict=True)],
                dtype=np.int64,
            ),
            total=np.array([each.total for each in own], dtype=np.int64),
            other_probability=sizes * [each.other_probability for each in mechanisms],
            slope=np.array([each.slope for each in mechanisms]),
            contradiction_level=np.array(
                [contradiction_levels[each.symbol.question] for each in own]
            ),
            levels=levels,
        )

    def find_intervals(self) -> _CodeIntervals:
        main, simultaneous = self.levels.main, self.levels.simultaneous
        return _CodeIntervals(
            main=self._widen_empty(self._find_ends((main,), chosen_at=main)),
            # Inner intervals use the method of the main interval around them.
            inner=self._find_ends(self.levels.inner, chosen_at=main),
            simultaneous=self._widen_empty(
                self._find_ends((simultaneous,), chosen_at=simultaneous)
            ),
        )

    def _widen_empty(self, ends: _Ends) -> _Ends:
        """Replace each empty interval with the one at the level for testing contradictions.

        The wider interval covers the true share at least as often as the empty one. If the wider
        interval is empty too, the counts contradict the design.
        """
        low, high, contradiction = ends.low.copy(), ends.high.copy(), ends.contradiction.copy()
        for row, code in np.argwhere(ends.contradiction).tolist():
            wide = METHODS[ends.methods[code]](
                successes=self.successes[code],
                total=self.total[code],
                other_probability=self.other_probability[code],
                slope=self.slope[code],
                level=self.levels.now(max(ends.levels[row], float(self.contradiction_level[code]))),
            )
            low[row, code], high[row, code] = wide.low, wide.high
            contradiction[row, code] = wide.contradiction
        return replace(ends, low=low, high=high, contradiction=contradiction)

    def _find_ends(self, levels: Sequence[float], *, chosen_at: float) -> _Ends:
        """Find the ends at all levels with the methods chosen for the level `chosen_at`."""
        methods = self._choose_methods(level=chosen_at)
        now = [self.levels.now(level) for level in levels]
        shape = (len(levels), len(methods))
        low, high, contradiction = np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool)
        for method in set(methods) if levels else ():
            places = np.flatnonzero([chosen == method for chosen in methods])
            intervals = METHODS[method](
                successes=self.successes[places],
                total=self.total[places],
                other_probability=self.other_probability[places],
                slope=self.slope[places],
                level=np.array(now)[:, None],
            )
            low[:, places], high[:, places] = intervals.low, intervals.high
            contradiction[:, places] = intervals.contradiction
        return _Ends(
            levels=levels,
            critical_values=[normal_quantile(level) for level in now],
            low=low,
            high=high,
            contradiction=contradiction,
            methods=methods,
        )

    def find_alarms(self, level: float) -> NDArray[np.bool_]:
        """Find the codes that the design can hardly have produced, at all looks together."""
        return find_contradictions(
            successes=self.successes,
            total=self.total,
            other_probability=self.other_probability,
            slope=self.slope,
            level=self.levels.now(level),
        )

    def find_design_errors(self, share: float) -> NDArray[np.float64]:
        """Find the standard errors that the design gives if each true share is `share`."""
        reported = self.other_probability + self.slope * share
        errors: NDArray[np.float64] = np.sqrt(reported * (1 - reported) / self.total) / self.slope
        return errors

    def _choose_methods(self, *, level: float) -> list[Method]:
        if self.levels.times:
            return ["clopper_pearson"] * len(self.total)  # guaranteed even at extreme levels
        return [
            choose_fixed_end_method(
                total=int(n), other_probability=float(c), slope=float(d), level=level
            )
            for n, c, d in zip(self.total, self.other_probability, self.slope, strict=True)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalShares:
    """The estimated shares of codes among all who were asked, with intervals and alarms."""

    counts: Mapping[str, SymbolCounts]  # by symbol
    places: Mapping[Event, int]
    shares: NDArray[np.float64]
    joint_shares: Mapping[str, NDArray[np.float64]]  # by symbol
    standard_errors: NDArray[np.float64]
    effective_sample_sizes: NDArray[np.float64]
    # The key says whether the complement is the share of interest.
    design_errors: Mapping[bool, NDArray[np.float64]]
    intervals: _CodeIntervals
    contradicting: frozenset[str]  # symbols with a code that contradicts the design
    alarms: Mapping[str, bool]  # by symbol

    @classmethod
    def of(
        cls,
        counts: Mapping[str, SymbolCounts],
        *,
        sums: Iterable[Event],
        levels: Levels,
        alarm_level: float,
        contradiction_levels: Mapping[str, float],
    ) -> MarginalShares:
        """Estimate the share of every code, and of the sums of codes that `sums` names."""
        singles = [
            Event(symbol=name, codes=(code,))
            for name, each in counts.items()
            for code in range(len(each.cells))
        ]
        wanted = (_find_row(event, counts)[0] for event in sums if event.symbol in counts)
        events = list(dict.fromkeys([*singles, *wanted]))
        codes = _Codes.of(events, counts, contradiction_levels, levels)
        estimates = estimate_marginal_shares(
            successes=codes.successes,
            total=codes.total,
            other_probability=codes.other_probability,
            slope=codes.slope,
        )
        alarms = codes.find_alarms(alarm_level)
        intervals = codes.find_intervals()
        contradicting = {
            event.symbol
            for place, event in enumerate(events)
            if len(event.codes) == 1 and intervals.main.contradiction[0, place]
        }
        return cls(
            counts=counts,
            places={event: place for place, event in enumerate(events)},
            shares=estimates.shares,
            joint_shares=_fit_joint_shares(counts),
            standard_errors=estimates.standard_errors,
            effective_sample_sizes=estimates.effective_sample_sizes,
            design_errors={
                False: codes.find_design_errors(COMPARED_AT),
                True: codes.find_design_errors(1 - COMPARED_AT),
            },
            intervals=intervals,
            contradicting=frozenset(contradicting),
            alarms={
                name: any(
                    alarm
                    for event, alarm in zip(singles, alarms.tolist(), strict=False)
                    if event.symbol == name
                )
                for name in counts
            },
        )

    def estimate(self, estimand: Estimand, event: Event | None = None) -> Estimate:
        """Estimate the share of the estimand's codes, or of the equivalent codes of `event`."""
        event = event or Event(symbol=estimand.symbol, codes=estimand.event)
        row, is_complement = _find_row(event, self.counts)
        place, own = self.places[row], self.counts[estimand.symbol]
        value = float(self.shares[place])
        joint = float(self.joint_shares[event.symbol][list(row.codes)].sum())
        intervals = self.intervals.of_code(place)
        if is_complement:
            value, joint = 1 - value, 1 - joint
            intervals = intervals.change(Interval.complement)
        return Estimate(
            estimand=estimand,
            symbols=(event.symbol,),
            total=own.total,
            count=own.count(estimand.event),
            value=value,
            joint_value=joint,
            standard_error=float(self.standard_errors[place]),
            effective_sample_size=_positive(float(self.effective_sample_sizes[place])),
            design_error=float(self.design_errors[is_complement][place]),
            intervals=intervals,
            contradiction=self._contradicts(row),
        )

    def _contradicts(self, row: Event) -> bool:
        """Return whether a row, or any single code of its symbol, contradicts the design."""
        own = self.intervals.main.contradiction[0, self.places[row]]
        return row.symbol in self.contradicting or bool(own)


def _find_row(event: Event, counts: Mapping[str, SymbolCounts]) -> tuple[Event, bool]:
    """Return the event to estimate, and whether it is the complement of the given event.

    The complement is estimated if it is a single code. Thus the same share is computed in the same
    way wherever it is shown.
    """
    k = counts[event.symbol].symbol.k
    if len(event.codes) == 1 or len(event.codes) < k - 1:
        return event, False
    left_out = tuple(sorted(set(range(k)) - set(event.codes)))
    return Event(symbol=event.symbol, codes=left_out), True


def _positive(size: float) -> float | None:
    """Return None for a share outside (0, 1), which has no effective sample size."""
    return size if np.isfinite(size) and size > 0 else None


def _fit_joint_shares(counts: Mapping[str, SymbolCounts]) -> dict[str, NDArray[np.float64]]:
    """Fit the joint shares; one call fits all symbols with the same number of codes."""
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
    return joint
