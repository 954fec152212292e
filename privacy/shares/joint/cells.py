"""Joint reports of several questions, some of whose combinations of answers cannot occur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.checks import Floats, check_numbers, check_whole_counts

_SUM = 1e-9  # tolerance for the probabilities of a column


@dataclass(frozen=True, kw_only=True, eq=False)
class JointCells:
    """Joint reports of one or more questions, and the true combinations that may explain them.

    Parameters
    ----------
    counts : ndarray of int64, shape (reported,)
        Number of reports in each combination of reported codes; at least one report in total.
    channel : ndarray of float64, shape (reported, true)
        Probability of each reported combination given each true one, for the true combinations
        that can occur; each column sums to one.
    event, counted : ndarray of bool, shape (true,)
        The true combinations whose share is wanted, and those among which this share is taken. The
        event is a nonempty proper subset of what is counted.

    Raises
    ------
    ValueError
        If shapes do not match, counts are not whole or all 0, the channel does not hold
        probabilities, a report shows a combination that no true one can produce, or the event is
        not a subset of what is counted.
    """

    counts: NDArray[np.int64]
    channel: Floats
    event: NDArray[np.bool_]
    counted: NDArray[np.bool_]

    def __post_init__(self) -> None:
        counts = check_whole_counts("counts", self.counts)
        if counts.ndim != 1 or not counts.any():
            raise ValueError(f"counts must be flat and hold at least one report, got {counts!r}")
        channel = check_joint_channel(self.channel, reported=len(counts))
        if (counts[channel.sum(axis=1) <= 0] > 0).any():
            raise ValueError("counts must be 0 where no true combination is reported so")
        for name in ("event", "counted"):
            mask = getattr(self, name)
            if mask.dtype != np.bool_ or mask.shape != channel.shape[1:]:
                raise ValueError(f"{name} must be {channel.shape[1]} truth values, got {mask!r}")
        some = self.event.any() and (self.counted & ~self.event).any()
        if not some or (self.event & ~self.counted).any():
            raise ValueError(f"event must be some, but not all, of what is counted, got {self!r}")


def check_joint_channel(channel: ArrayLike, *, reported: int) -> Floats:
    """Reject a channel that does not have `reported` rows or whose columns do not sum to one."""
    matrix = check_numbers("channel", channel, at_least=0.0)
    if matrix.ndim != 2 or len(matrix) != reported or matrix.shape[1] == 0:
        raise ValueError(f"channel must have {reported} rows, got {matrix.shape}")
    if (abs(matrix.sum(axis=0) - 1) > _SUM).any():
        raise ValueError(f"channel must have columns that sum to one, got {channel!r}")
    return matrix
