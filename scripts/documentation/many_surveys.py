"""Decides which ratios an interval contains, for thousands of simulated surveys at once.

The product computes one interval at a time. These functions do the same for all surveys of a
simulation together and share no code with the product; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammaln

from privacy.checks import Floats

Kept = NDArray[np.bool_]

_ROUNDS = 60
_SHRINK = 0.15  # of the duality gap, in each step
_GAP, _RESIDUAL = 1e-8, 1e-7
_STAY_INSIDE = 0.97  # of the way to a share of 0
_TINY = 1e-300
_HALVINGS = 50
_NEGLIGIBLE = 1e-12  # probability of counts that exact sums leave out
_REACH = 7.0  # standard deviations within which the other counts lie


def find_limit(level: float) -> float:
    return float(chdtri(1, 1 - level))


def maximize(counts: Floats, channel: Floats) -> tuple[Floats, Floats]:
    """Find the highest log-likelihood of each survey, and its shares, by an interior point method.

    counts: (surveys, reported); channel: (reported, true), or one for each survey.
    """
    surveys, cells = len(counts), channel.shape[-1]
    channels = np.broadcast_to(channel, (surveys, *channel.shape[-2:]))
    observed = counts / counts.sum(axis=1, keepdims=True)
    shares, slack = np.full((surveys, cells), 1 / cells), np.ones((surveys, cells))
    diagonal = np.arange(cells)
    for _ in range(_ROUNDS):
        reported = np.einsum("srt,st->sr", channels, shares)
        gradient = np.einsum("srt,sr->st", channels, observed / reported) - 1
        gap = (shares * slack).mean(axis=1, keepdims=True)
        if gap.max() < _GAP and np.abs(gradient + slack).max() < _RESIDUAL:
            break
        scaled = channels * (np.sqrt(observed) / reported)[:, :, None]
        curvature = np.einsum("srt,sru->stu", scaled, scaled)
        curvature[:, diagonal, diagonal] += slack / shares
        step = np.linalg.solve(curvature, (gradient + _SHRINK * gap / shares)[:, :, None])[:, :, 0]
        slack_step = _SHRINK * gap / shares - slack - slack / shares * step
        shares = _move(shares, step)
        slack = _move(slack, slack_step)
    reported = np.einsum("srt,st->sr", channels, shares / shares.sum(axis=1, keepdims=True))
    return (counts * np.log(np.maximum(reported, _TINY))).sum(axis=1), shares


def _move(values: Floats, step: Floats) -> Floats:
    """Take a step, or stop just before the first value reaches 0."""
    room = np.where(step < 0, -values / np.minimum(step, -_TINY), np.inf).min(axis=1)
    part = np.minimum(1.0, _STAY_INSIDE * room)[:, None]
    moved: Floats = np.maximum(values + part * step, _TINY)
    return moved


def joint_statistic(counts: Floats, channel: Floats, ratio: Floats | float) -> Floats:
    """Return twice the log-likelihood's drop if the first cell has this share of the first two."""
    part = np.broadcast_to(np.asarray(ratio, dtype=np.float64), (len(counts),))[:, None, None]
    together = part * channel[None, :, :1] + (1 - part) * channel[None, :, 1:2]
    others = np.broadcast_to(channel[None, :, 2:], (len(counts), *channel[:, 2:].shape))
    best, _ = maximize(counts, channel)
    fixed, _ = maximize(counts, np.concatenate([together, others], axis=2))
    return 2 * (best - fixed)


def relaxed_keeps(
    counts: Floats, numerator: Floats, denominator: Floats, *, ratio: float, limit: float
) -> Kept:
    """Return whether the mean of numerator - ratio * denominator, or of denominator, may be 0."""
    of_numerator, of_denominator = counts @ numerator, counts @ denominator
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = of_numerator / of_denominator
    least = np.minimum(_fall(counts, numerator), _fall(counts, numerator - denominator))
    least = np.where((estimate >= 0) & (estimate <= 1), 0.0, least)
    nobody = (of_denominator <= 0) | (2 * _fall(counts, denominator) <= limit)
    kept: Kept = nobody | (2 * (_fall(counts, numerator - ratio * denominator) - least) <= limit)
    return kept


def _fall(counts: Floats, residuals: Floats) -> Floats:
    """Return the drop in the reported shares' log-likelihood if the residuals have mean 0.

    By duality, this is the maximum of the sum of N ln(1 + x h) over the cells, where N are the
    counts and h the residuals. The maximum is over all x that keep 1 + x h positive in every cell,
    even in cells that no one reported.
    """
    low = np.full(len(counts), -1 / residuals.max())
    high = np.full(len(counts), -1 / residuals.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rising = (counts * (residuals / (1 + middle[:, None] * residuals))).sum(axis=1) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    fall: Floats = (counts * np.log1p((low + high)[:, None] / 2 * residuals)).sum(axis=1)
    return np.maximum(fall, 0.0)


def list_counts(total: int, reported: Floats) -> tuple[Floats, Floats]:
    """List all sufficiently probable counts of three cells, with their probabilities."""
    spread = _REACH * np.sqrt(total * reported * (1 - reported)) + _REACH
    first, second = (
        np.arange(
            max(0, int(total * share - reach)), min(total, int(total * share + reach) + 1) + 1
        )
        for share, reach in zip(reported[:2], spread[:2], strict=True)
    )
    grid = np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
    grid = grid[grid.sum(axis=1) <= total]
    counts = np.column_stack([grid, total - grid.sum(axis=1)]).astype(np.float64)
    chances = np.exp(
        gammaln(total + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(reported)
    )
    likely = chances > _NEGLIGIBLE
    return counts[likely], chances[likely]


def cover_runs(
    generator: np.random.Generator,
    *,
    reported: Floats,
    total: int,
    runs: int,
    keeps: Callable[[Floats], Kept],
) -> float:
    """Return the share of simulated surveys whose interval contains the truth."""
    drawn = generator.multinomial(total, reported, size=runs)
    different, places = np.unique(drawn, axis=0, return_inverse=True)
    return float(keeps(different.astype(np.float64))[places.ravel()].mean())


def list_looks(smallest: int, expected: int, *, last: int) -> list[int]:
    """List the number of reports at each look shown, for a crowd of three smallest batches."""
    looks, total = [], 0
    while total <= last:
        if total >= 3 * smallest:
            looks.append(total)
        total += max(smallest, -(-expected // 10), -(-total // 9))
    return looks
