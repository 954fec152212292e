"""What is estimated from counts, and with which intervals: a pure function of manifest and counts.

Which interval is honest depends on how the wave ended, never on what the reports say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy.coverage import choose_method
from privacy.estimation import estimate_marginal_shares, fit_joint_shares
from privacy.intervals import METHODS, Method, simultaneous_level
from surveys.manifest import Manifest, ManifestQuestion

LEVEL = 0.95
# Shown inside the 95 % interval as guides: narrower ones cover less reliably at small n.
GUIDE_LEVELS = (0.5, 0.8)
# One false alarm in a hundred surveys at most, however often one looks.
ALARM_LEVEL = 0.99
YES = 1


def codes_shown(question: ManifestQuestion) -> tuple[int, ...]:
    """The codes whose shares screens show: of yes and no only the yes."""
    if question.type == "yes_no":
        return (YES,)
    return tuple(option.code for option in question.options)


def compute_estimates(
    *, manifest: Manifest, counts: Sequence[Sequence[int]], fixed_end: bool
) -> list[dict[str, Any]]:
    """Estimate every share of every question, unclipped, with the intervals that are allowed."""
    shares = _Shares.of(manifest, counts)
    shown = sum(len(codes_shown(question)) for question in manifest.questions)
    together_level = simultaneous_level(LEVEL, shares=shown)
    one = shares.find_intervals((*GUIDE_LEVELS, LEVEL), at=LEVEL, fixed_end=fixed_end)
    together = shares.find_intervals((together_level,), at=together_level, fixed_end=fixed_end)
    alarm_level = simultaneous_level(ALARM_LEVEL, shares=shown)
    alarm = shares.find_intervals((alarm_level,), at=alarm_level, fixed_end=False)
    codes = shares.describe_codes(one, together)
    found = []
    for question, places in zip(manifest.questions, shares.places, strict=True):
        first = places[0]
        found.append(
            {
                "name": question.name,
                "total": int(shares.totals[first]),
                "codes": [{"code": code, **codes[place]} for code, place in enumerate(places)],
                "interval": {"method": one.methods[first], "level": LEVEL},
                "together": {
                    "method": together.methods[first],
                    "level": together_level,
                    "shares": shown,
                },
                "contradiction": bool(one.contradiction[-1, places].any()),
                "alarm": bool(alarm.contradiction[0, places].any()),
            }
        )
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """Ends by level (rows) and share (columns), and each share's method."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    contradiction: NDArray[np.bool_]
    methods: list[Method]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shares:
    """All codes of all questions side by side, so that intervals are found for all at once."""

    places: list[range]  # of each question's codes
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    c: NDArray[np.float64]
    d: NDArray[np.float64]

    @classmethod
    def of(cls, manifest: Manifest, counts: Sequence[Sequence[int]]) -> _Shares:
        sizes = [len(cells) for cells in counts]
        starts = [0, *accumulate(sizes)]
        mechanisms = [question.mechanism for question in manifest.questions]
        return cls(
            places=[range(start, end) for start, end in pairwise(starts)],
            counts=np.array([count for cells in counts for count in cells], dtype=np.int64),
            totals=np.repeat([sum(cells) for cells in counts], sizes),
            c=np.repeat([mechanism.other_probability for mechanism in mechanisms], sizes),
            d=np.repeat([mechanism.slope for mechanism in mechanisms], sizes),
        )

    def describe_codes(self, one: _Found, together: _Found) -> list[dict[str, Any]]:
        """Everything about each share; estimates are never clipped here."""
        marginal = estimate_marginal_shares(
            successes=self.counts, total=self.totals, other_probability=self.c, slope=self.d
        )
        levels = np.broadcast_to(np.array(GUIDE_LEVELS)[:, None], one.low[:-1].shape)
        columns = {
            "count": self.counts,
            "raw_share": self.counts / self.totals,
            "estimate": marginal.shares,
            "joint_estimate": self._fit_joint_shares(),
            "standard_error": marginal.standard_errors,
            "effective_total": marginal.effective_totals,
            "low": one.low[-1],
            "high": one.high[-1],
            "together": np.stack([together.low[0], together.high[0]], axis=1),
            "guides": np.stack([levels, one.low[:-1], one.high[:-1]], axis=2).swapaxes(0, 1),
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _fit_joint_shares(self) -> NDArray[np.float64]:
        """Question by question of one size at once: one call for a survey of yes and no."""
        joint = np.empty(len(self.counts))
        for size in {len(places) for places in self.places}:
            alike = np.array([places for places in self.places if len(places) == size])
            joint[alike] = fit_joint_shares(
                counts=self.counts[alike],
                other_probability=self.c[alike[:, 0]],
                slope=self.d[alike[:, 0]],
            )
        return joint

    def find_intervals(self, levels: Sequence[float], *, at: float, fixed_end: bool) -> _Found:
        """Find intervals at all levels by the method that is chosen for the level `at`."""
        methods = [
            choose_method(
                total=int(total),
                other_probability=float(c),
                slope=float(d),
                level=at,
                fixed_end=fixed_end,
            )
            for total, c, d in zip(self.totals, self.c, self.d, strict=True)
        ]
        shape = (len(levels), len(methods))
        low, high = np.empty(shape), np.empty(shape)
        contradiction = np.empty(shape, dtype=bool)
        for method in set(methods):
            places = np.flatnonzero([chosen == method for chosen in methods])
            intervals = METHODS[method](
                successes=self.counts[places],
                total=self.totals[places],
                other_probability=self.c[places],
                slope=self.d[places],
                level=np.array(levels)[:, None],
            )
            low[:, places], high[:, places] = intervals.low, intervals.high
            contradiction[:, places] = intervals.contradiction
        return _Found(low=low, high=high, contradiction=contradiction, methods=methods)
