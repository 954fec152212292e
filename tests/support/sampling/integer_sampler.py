"""Exact draws of noise and choices with whole numbers only, from a source that can be seeded.

The sampler has the same distributions as OpenDP, which cannot be seeded, but shares no code with
it. It is for tests only: nothing here is meant to protect anyone.

Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential privacy,
NeurIPS, algorithms 1 to 3; McKenna, R. and Sheldon, D. (2020), Permute-and-flip, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from random import Random


class IntegerSampler:
    def __init__(self, source: Random) -> None:
        self._below = source.randrange

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        """Return True with probability exp(-exponent)."""
        return self._survives(exponent.numerator, exponent.denominator)

    def discrete_laplace(self, scale: Fraction) -> int:
        """Draw z with probability proportional to exp(-|z| / scale)."""
        top, bottom = scale.numerator, scale.denominator
        while True:
            part = self._below(top)
            if not self._survives(part, top):
                continue
            whole = 0
            while self._survives(1, 1):
                whole += 1
            size, is_negative = (part + top * whole) // bottom, self._below(2)
            if not (is_negative and size == 0):
                return -size if is_negative else size

    def discrete_gaussian(self, squared_scale: Fraction) -> int:
        """Draw z with probability proportional to exp(-z**2 / (2 squared_scale))."""
        top, bottom = squared_scale.numerator, squared_scale.denominator
        width = isqrt(top // bottom) + 1
        while True:
            drawn = self.discrete_laplace(Fraction(width))
            # (|z| - s / t)**2 / (2 s), without fractions: s = top / bottom, t = width
            off = abs(drawn) * bottom * width - top
            if self._survives(off * off, 2 * top * bottom * width * width):
                return drawn

    def permute_and_flip(self, scores: Sequence[int] | Sequence[Fraction], rate: Fraction) -> int:
        gaps = [rate * (max(scores) - score) for score in scores]
        left = list(range(len(gaps)))
        while True:
            option = left.pop(self._below(len(left)))
            if self.bernoulli_exp(gaps[option]):
                return option

    def exponential_mechanism(
        self, scores: Sequence[int] | Sequence[Fraction], rate: Fraction
    ) -> int:
        gaps = [rate * (max(scores) - score) for score in scores]
        while True:
            option = self._below(len(gaps))
            if self.bernoulli_exp(gaps[option]):
                return option

    def _survives(self, top: int, bottom: int) -> bool:
        """Return True with probability exp(-top / bottom)."""
        while top > bottom:
            if not self._survives(1, 1):
                return False
            top -= bottom
        tries = 1
        while self._below(bottom * tries) < top:
            tries += 1
        return tries % 2 == 1
