"""The cost of counting and estimating, compared with the memory limit and another package.

Counts ten yes/no questions, singly and in all pairs, over batches as sealing makes them. Estimates
fifty questions. An LDP package in a temporary environment estimates from the same reports.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import django
import numpy as np
from numpy.typing import NDArray

from aggregator.batches.cross_tabulation import PairCounter, PairCounts
from aggregator.batches.packing import count_codes, pack_reports, unpack_reports
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.estimation import estimate_marginal_shares
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option

QUESTIONS = 10
KS = [2] * QUESTIONS
# The largest batch that sealing makes; a fifth of all batches contain only the minimum.
LARGE, SMALL = 65_536, 50
BLOCK_WORDS = 256 * 1024 // 8
ESTIMATED_QUESTIONS, ESTIMATED_REPORTS = 50, 1_000_000
PEER_REPORTS, PEER_SYMBOLS, PEER_EPSILON = 1_000_000, 10, 1.0

# The package documents a list of ints, which is also faster than an array.
MULTI_FREQ_LDPY = """
import json, sys, time
import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
reports, k, epsilon = np.load(sys.argv[1]).tolist(), int(sys.argv[2]), float(sys.argv[3])
seconds = []
for _ in range(5):
    start = time.perf_counter()
    shares = GRR_Aggregator_MI(reports, k, epsilon)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(seconds), "shares": list(shares)}))
"""
PURE_LDP = """
import json, sys, time
import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEServer
reports, k, epsilon = np.load(sys.argv[1]).tolist(), int(sys.argv[2]), float(sys.argv[3])
seconds = []
for _ in range(5):
    server = DEServer(epsilon, k)
    start = time.perf_counter()
    server.aggregate_all(reports)
    shares = server.estimate_all(range(1, k + 1), suppress_warnings=True) / len(reports)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(seconds), "shares": list(shares)}))
"""
# Packages to install (pure-ldp does not declare two that it imports), and code to run.
PEERS = {
    "multi-freq-ldpy": (["multi-freq-ldpy==0.2.5"], MULTI_FREQ_LDPY),
    "pure-ldp": (["pure-ldp==1.2.0", "scikit-learn", "statsmodels"], PURE_LDP),
}


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Batches as stored, and their 64-bit words as one contiguous row per question."""

    packed: list[tuple[bytes, int]]
    words: NDArray[np.uint64]

    @property
    def total(self) -> int:
        return count_reports(self.packed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10⁷ reports instead of 10⁸")
    quick = parser.parse_args().quick
    batches = draw_batches(reports=10**7 if quick else 10**8)
    counts = measure_counts(batches, rounds=7)
    pairs = measure_pairs(batches, rounds=5)
    estimate_ms = 1000 * measure_estimates()
    ours, peer, peer_name = measure_peer()

    print(f"{batches.total:,} reports × {QUESTIONS} questions in {len(batches.packed):,} batches")
    print_table(f"{QUESTIONS} counts", counts)
    print_table(f"{QUESTIONS * (QUESTIONS - 1) // 2} pairs", pairs)
    print(f"{f'estimates and intervals of {ESTIMATED_QUESTIONS} questions':<52}{estimate_ms:>9.1f}")
    print_peer(ours, peer, peer_name)
    result = {
        "counts_ratio_to_limit": _ratio(counts["count_codes"], counts["raw limit"]),
        "pairs_ratio_to_limit": _ratio(pairs["PairCounter"], pairs["raw limit"]),
        "estimate_ms": round(estimate_ms, 1),
        "peer_ratio": round(peer / ours, 1),
    }
    print(f"RESULT {json.dumps(result)}")


def draw_batches(*, reports: int) -> Batches:
    """Draw random words in the layout of `pack_reports`, whose sorting would take minutes."""
    generator = np.random.default_rng(20)
    packed: list[tuple[bytes, int]] = []
    matrices = []
    sizes = cycle([LARGE, LARGE, SMALL, LARGE, LARGE])
    missing = reports
    while missing:
        size = min(next(sizes), missing)
        missing -= size
        words = generator.integers(0, 2**64, (QUESTIONS, -(-size // 64)), dtype=np.uint64)
        words[:, -1] &= np.uint64(2 ** (size % 64 or 64) - 1)
        packed.append((words.tobytes(), size))
        matrices.append(words)
    for sealed, size in packed[:3]:
        check_layout(sealed, size=size)
    return Batches(packed=packed, words=np.concatenate(matrices, axis=1))


def count_reports(packed: list[tuple[bytes, int]]) -> int:
    return sum(size for _, size in packed)


def check_layout(packed: bytes, *, size: int) -> None:
    rows = [row.tobytes() for row in unpack_reports(packed, size=size, ks=KS)]
    genuine = pack_reports(rows, ks=KS)
    again = [row.tobytes() for row in unpack_reports(genuine, size=size, ks=KS)]
    assert len(packed) == len(genuine)
    assert again == sorted(rows)
    # Counting whole words would count padding that is not zero.
    assert count_codes(packed, size=size, ks=KS) == count_codes(genuine, size=size, ks=KS)


def best_of(ways: Mapping[str, Callable[[], Any]], *, rounds: int) -> dict[str, float]:
    """Time every way once per round, so that noise affects all ways; keep the best times."""
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def measure_counts(batches: Batches, *, rounds: int) -> dict[str, float]:
    def raw() -> list[int]:
        return [
            sum(
                int(np.bitwise_count(row[start : start + BLOCK_WORDS]).sum(dtype=np.uint32))
                for start in range(0, len(row), BLOCK_WORDS)
            )
            for row in batches.words
        ]

    def ours() -> list[int]:
        counts = [count_codes(packed, size=size, ks=KS) for packed, size in batches.packed]
        return list(np.array(counts).sum(axis=0)[:, 1])

    assert raw() == ours()
    return best_of({"raw limit": raw, "count_codes": ours}, rounds=rounds) | {
        "rows, unpacked": _unpacked(batches, lambda rows: rows.sum(axis=0))
    }


def measure_pairs(batches: Batches, *, rounds: int) -> dict[str, float]:
    words = batches.words
    width = BLOCK_WORDS // QUESTIONS

    def raw() -> NDArray[np.int64]:
        both = np.zeros((QUESTIONS, QUESTIONS), dtype=np.int64)
        for start in range(0, words.shape[1], width):
            block = words[:, start : start + width]
            for i in range(QUESTIONS - 1):
                ones = np.bitwise_count(block[i] & block[i + 1 :])
                both[i, i + 1 :] += ones.sum(axis=1, dtype=np.uint32)
        return both

    def ours() -> PairCounts:
        counter = PairCounter(ks=KS)
        for packed, size in batches.packed:
            counter.add(packed, size=size)
        return counter.result()

    assert np.array_equal(raw(), np.triu(ours().both, 1))
    return best_of({"raw limit": raw, "PairCounter": ours}, rounds=rounds) | {
        "rows, unpacked, as a matrix product": _unpacked(
            batches, lambda rows: rows.T.astype(np.float32) @ rows.astype(np.float32)
        )
    }


def _unpacked(batches: Batches, count: Callable[[NDArray[np.uint8]], Any]) -> float:
    """Time the naive way on the first few batches and extrapolate."""
    few = batches.packed[:20]

    def naively() -> None:
        for packed, size in few:
            count(unpack_reports(packed, size=size, ks=KS))

    seconds = best_of({"naive": naively}, rounds=2)["naive"]
    return seconds * batches.total / count_reports(few)


def measure_estimates() -> float:
    """Return the median seconds for all estimates of a wave with the slower kind of interval."""
    # Nothing is stored or signed here, so no permanent folder or key is needed.
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from aggregator.results.estimating import compute_estimates

    manifest = _yes_no_manifest(ESTIMATED_QUESTIONS)
    ones = np.random.default_rng(21).integers(
        ESTIMATED_REPORTS // 4, 3 * ESTIMATED_REPORTS // 4, ESTIMATED_QUESTIONS
    )
    counts = [[ESTIMATED_REPORTS - int(one), int(one)] for one in ones]
    medians = []
    for shown_at in ((ESTIMATED_REPORTS // 2, ESTIMATED_REPORTS), ()):
        seconds = []
        for _ in range(9):
            start = time.perf_counter()
            compute_estimates(
                manifest=manifest,
                counts=counts,
                tables=[],
                shown_at=shown_at,
                told=(),
            )
            seconds.append(time.perf_counter() - start)
        medians.append(statistics.median(seconds))
    return max(medians)


def _yes_no_manifest(questions: int) -> Manifest:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=25)
    return Manifest(
        survey="analysis",
        wave=1,
        title="Analysis",
        introduction="",
        language="en",
        minimum_batch=SMALL,
        display_minimum=SMALL,
        opens=None,
        closes=None,
        cap=None,
        questions=tuple(
            ManifestQuestion(
                name=f"q{number}",
                type=QuestionType.YES_NO,
                text=f"Question {number}?",
                flips=25,
                threshold=mechanism.threshold,
                options=(Option(code=0, text="No"), Option(code=1, text="Yes")),
            )
            for number in range(1, questions + 1)
        ),
    )


def measure_peer() -> tuple[float, float, str]:
    """Return our seconds, the other package's, and its name, for the same reports."""
    mechanism = RandomizedResponse.from_epsilon(symbols=PEER_SYMBOLS, epsilon=PEER_EPSILON)
    column = _draw_reports(mechanism)
    packed = column.tobytes()

    def ours() -> NDArray[np.float64]:
        [counts] = count_codes(packed, size=len(column), ks=[PEER_SYMBOLS])
        return estimate_marginal_shares(
            successes=counts,
            total=len(column),
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
        ).shares

    seconds = best_of({"ours": ours}, rounds=15)["ours"]
    for name, (packages, script) in PEERS.items():
        try:
            answer = _run_peer(column, packages=packages, script=script)
        except subprocess.CalledProcessError as error:
            print(f"{name} cannot be measured here: {error.stderr[-300:].strip()}")
            continue
        # Every true share is so large that clipping at zero changes nothing.
        assert np.allclose(answer["shares"], ours(), atol=1e-6)
        return seconds, answer["seconds"], name
    raise SystemExit("No other package could be installed, so there is nothing to compare with.")


def _draw_reports(mechanism: RandomizedResponse) -> NDArray[np.uint8]:
    generator = np.random.default_rng(22)
    shares = np.arange(1, PEER_SYMBOLS + 1) / np.arange(1, PEER_SYMBOLS + 1).sum()
    truth = generator.choice(PEER_SYMBOLS, PEER_REPORTS, p=shares)
    kept = generator.random(PEER_REPORTS) < mechanism.keep_probability
    other = generator.integers(0, PEER_SYMBOLS - 1, PEER_REPORTS)
    return np.where(kept, truth, other + (other >= truth)).astype(np.uint8)


def _run_peer(column: NDArray[np.uint8], *, packages: list[str], script: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="murmur-peer-") as folder:
        python = str(Path(folder, "venv", "bin", "python"))
        reports = str(Path(folder, "reports.npy"))
        np.save(reports, column)
        _run(sys.executable, "-m", "venv", str(Path(folder, "venv")))
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        output = _run(python, "-c", script, reports, str(PEER_SYMBOLS), str(PEER_EPSILON))
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    return answer


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _ratio(seconds: float, limit: float) -> float:
    return round(seconds / limit, 2)


def print_table(what: str, seconds: Mapping[str, float]) -> None:
    print(f"{what:<52}{'ms':>9}{'to limit':>10}")
    for name, value in seconds.items():
        print(f"  {name:<50}{1000 * value:>9.1f}{value / seconds['raw limit']:>10.2f}")


def print_peer(ours: float, peer: float, name: str) -> None:
    print(f"{PEER_REPORTS:,} reports, k = {PEER_SYMBOLS}, ε = {PEER_EPSILON:g}")
    print(f"  {'ours':<50}{1000 * ours:>9.2f}")
    print(f"  {name:<50}{1000 * peer:>9.2f}")
