"""Drawing a report: the shared vectors, every pair of words, and many random draws."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from privacy.mechanism.drawing import draw_report
from privacy.mechanism.mechanisms import RandomizedResponse
from tests.vectors import make_randomize

VECTORS: list[dict[str, Any]] = json.loads(make_randomize.PATH.read_text())


def test_the_vector_file_matches_its_generator() -> None:
    assert make_randomize.cases() == VECTORS


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: f"k{case['k']}")
def test_every_vector_agrees(case: dict[str, Any]) -> None:
    draws: Iterator[int] = iter(case["draws"])
    mechanism = RandomizedResponse(symbols=case["k"], threshold=case["threshold"])
    assert mechanism.randomize(case["symbol"], random_uint32=lambda: next(draws)) == case["result"]
    assert len(case["draws"]) - len(list(draws)) == case["used"]


@pytest.mark.parametrize("scale", [16, 32, 64])
@pytest.mark.parametrize("k", range(2, 9))
def test_enumerating_every_draw_gives_the_channel_exactly(k: int, scale: int) -> None:
    others = k - 1
    limit = scale // others * others
    for threshold in range(scale // k + 1, scale):
        for symbol in range(k):
            counts = [0] * k
            for u, v in product(range(scale), range(limit)):
                words = iter((u, v))
                drawn = draw_report(
                    symbol,
                    symbols=k,
                    threshold=threshold,
                    scale=scale,
                    random_word=lambda words=words: next(words),  # type: ignore[misc]
                )
                counts[drawn] += 1
            shares = [Fraction(count, scale * limit) for count in counts]
            keep = Fraction(threshold, scale)
            assert shares == [keep if j == symbol else (1 - keep) / others for j in range(k)]
        if scale == 64 and threshold > scale // k + 2:
            break  # the larger scales take long, so only their first thresholds are tested


@pytest.mark.parametrize("k", [2, 3, 5, 17, 64])
def test_the_number_of_draws_does_not_depend_on_the_symbol(k: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
    for seed in range(200):
        used = set()
        for symbol in range(k):
            generator, count = random.Random(seed), 0

            def draw(generator: random.Random = generator) -> int:
                nonlocal count
                count += 1
                return generator.getrandbits(32)

            mechanism.randomize(symbol, random_uint32=draw)
            used.add(count)
        assert len(used) == 1


@pytest.mark.parametrize(("k", "symbol"), [(2, 0), (2, 1), (3, 2), (7, 0)])
def test_many_draws_follow_the_channel(k: int, symbol: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
    generator = random.Random(1974 + k)
    n = 200_000
    observed = np.zeros(k)
    for _ in range(n):
        observed[mechanism.randomize(symbol, random_uint32=lambda: generator.getrandbits(32))] += 1
    expected = n * mechanism.channel()[:, symbol]
    statistic = float(((observed - expected) ** 2 / expected).sum())
    p = chi2.sf(statistic, df=k - 1)
    print(f"n={n} k={k} observed={observed} expected={expected} p={p:.3g}")
    assert p > 1e-6
