"""Searches successive dumps for a pattern in which reports wait when a batch is sealed.

While a survey is open, K reports wait. Every backup and every dump contains them unsealed, with
their ids. If anything but chance decides which reports wait, the reports of the same people may
wait each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats


@dataclass(frozen=True, kw_only=True)
class Sealing:
    """A sealing in two dumps: reports that waited, by arrival, and those that still wait."""

    waited: Sequence[bytes]
    stayed: frozenset[bytes]


def find_patterns(sealings: Sequence[Sealing]) -> dict[str, float]:
    """Return p for each property that may decide which reports stay; a small p shows that it does.

    If every report is equally likely to stay, those that stay are a simple random sample of those
    that waited. The sum of any score over them then has the mean and variance of sampling without
    replacement, and sums over sealings are normal.
    """
    return {
        "the id": _test(sealings, [_rank_ids(sealing.waited) for sealing in sealings]),
        "the order of arrival": _test(
            sealings, [np.arange(len(sealing.waited), dtype=float) for sealing in sealings]
        ),
        "having stayed before": _test(sealings, _mark_those_who_stayed(sealings)),
    }


def _rank_ids(ids: Sequence[bytes]) -> NDArray[np.float64]:
    ranks = {name: float(rank) for rank, name in enumerate(sorted(ids))}
    return np.array([ranks[name] for name in ids])


def _mark_those_who_stayed(sealings: Sequence[Sealing]) -> list[NDArray[np.float64]]:
    earlier = [frozenset[bytes](), *(sealing.stayed for sealing in sealings)]
    return [
        np.array([float(name in before) for name in sealing.waited])
        for sealing, before in zip(sealings, earlier, strict=False)
    ]


def _test(sealings: Sequence[Sealing], scores: Sequence[NDArray[np.float64]]) -> float:
    surplus = variance = 0.0
    for sealing, score in zip(sealings, scores, strict=True):
        stays = np.array([name in sealing.stayed for name in sealing.waited])
        waited, stayed = len(stays), int(stays.sum())
        surplus += float(score[stays].sum() - stayed * score.mean())
        if waited > 1:
            variance += stayed * (waited - stayed) / waited * float(score.var(ddof=1))
    return float(2 * stats.norm.sf(abs(surplus) / np.sqrt(variance))) if variance else 1.0
