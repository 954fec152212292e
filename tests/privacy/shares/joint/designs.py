"""Questions behind a rule, each as one channel of all codes together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse

Mask = NDArray[np.bool_]


def channel_of(
    mechanisms: Sequence[RandomizedResponse], possible: Sequence[tuple[int, ...]]
) -> Floats:
    """Return the probability of each reported combination of codes, given each possible truth."""
    channels = [mechanism.channel() for mechanism in mechanisms]

    def probability(reported: tuple[int, ...], true: tuple[int, ...]) -> float:
        each = zip(channels, reported, true, strict=True)
        return prod(float(channel[r, t]) for channel, r, t in each)

    rows = list(product(*(range(mechanism.symbols) for mechanism in mechanisms)))
    return np.array([[probability(row, column) for column in possible] for row in rows])


def follow_up(flips: int = 25, *, refusal: bool = False) -> tuple[Floats, Mask, Mask]:
    """Make a child (no, yes, maybe refused, not asked) that is asked after a yes to the parent."""
    asked = 3 if refusal else 2
    possible = [(0, asked), *((1, code) for code in range(asked))]
    mechanisms = [RandomizedResponse.from_flips(symbols=k, flips=flips) for k in (2, asked + 1)]
    codes = np.array([code for _, code in possible])
    return channel_of(mechanisms, possible), codes == 1, codes < 2


def either_parent() -> tuple[Floats, Mask, Mask]:
    """Make a child that is asked after a yes to either of two parents or to both."""
    possible = [(0, 0, 2), *((*one, code) for one in ((0, 1), (1, 0), (1, 1)) for code in (0, 1))]
    mechanisms = [RandomizedResponse.from_flips(symbols=k, flips=25) for k in (2, 2, 3)]
    codes = np.array([cell[-1] for cell in possible])
    return channel_of(mechanisms, possible), codes == 1, codes < 2


def least_error(design: tuple[Floats, Mask, Mask], truth: ArrayLike) -> float:
    """Return the smallest possible standard error of one report, from Fisher's information."""
    channel, event, counted = design
    shares = np.asarray(truth)
    # The first share is one minus all others.
    slopes = channel[:, 1:] - channel[:, :1]
    information = (slopes.T / (channel @ shares)) @ slopes
    share = shares[event].sum() / shares[counted].sum()
    gradient = (event - share * counted) / shares[counted].sum()
    change = gradient[1:] - gradient[0]
    return sqrt(change @ np.linalg.solve(information, change))
