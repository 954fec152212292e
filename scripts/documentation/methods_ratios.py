"""Computes the tables in docs/methods on ratios after a frozen end: coverage of shares and means.

For three cells of counts, the sums are exact. Everything else is simulated with fixed seeds, so
every run gives the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import exp, log

import numpy as np
from scipy.stats import binom

from privacy.checks import Floats
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.joint.fallback import joint_share_covers, relaxed_likelihood_covers
from privacy.shares.joint.weights import fixed_weights
from scripts.documentation.many_surveys import (
    cover_runs,
    find_limit,
    joint_statistic,
    list_counts,
    relaxed_keeps,
)
from scripts.documentation.ratio_designs import (
    Design,
    after_two,
    follow_up,
    gated_item,
    refusable,
    refusable_follow_up,
    refusable_scale,
    scale_follow_up,
)

LIMIT = find_limit(LEVEL)
SEED, RUNS = 2001, 4000
EPSILONS = ((0.5, "0.5"), (log(3), "ln 3"), (2.0, "2"))
ANSWERS = (2, 3, 5, 16)
POINTS = (3, 5, 7)
TOTALS = (50, 200, 1000)
ASKED = (0.1, 0.3, 1.0)
SHARES = (0.0, 0.02, 0.2, 0.5, 1.0)
REFUSING = 0.1  # of those who are asked
RANDOM_CELLS = 200
LEAST, ALMOST_NEVER = 0.93, 1e-6


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The coverage at one true state; `runs` is 0 for an exact sum."""

    epsilon: float
    coverage: float
    runs: int = RUNS

    @property
    def fails(self) -> bool:
        """Return whether coverage is so far below .93 that chance explains it once in a million."""
        if not self.runs:
            return self.coverage < LEAST
        return bool(binom.cdf(round(self.coverage * self.runs), self.runs, LEAST) < ALMOST_NEVER)


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Coverage by figure on the grid, and in random cells."""

    rows: Sequence[Row]
    random: Sequence[Cell]


def compute_tables() -> Tables:
    return Tables(rows=[compute_row(name) for name in ROWS], random=compute_random_cells())


def compute_row(name: str) -> Row:
    return Row(name=name, cells=list(ROWS[name](seeded(name))))


def compute_random_cells() -> list[Cell]:
    return cover_random_cells(np.random.default_rng([SEED, len(ROWS)]))


def seeded(name: str) -> np.random.Generator:
    return np.random.default_rng([SEED, list(ROWS).index(name)])


def write_ratio_table(tables: Tables) -> str:
    """Write the lowest coverage at each epsilon, and how many cells exist and fail."""
    heads = " | ".join(f"ε = {label}" for _, label in EPSILONS)
    lines = [
        f"| figure | cells | {heads} | mean | cells that fail |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [write_row(row) for row in tables.rows]
    return "\n".join([*lines, write_random_cells(tables.random)])


def write_row(row: Row) -> str:
    least = " | ".join(
        _floor(min(cell.coverage for cell in row.cells if cell.epsilon == epsilon))
        for epsilon, _ in EPSILONS
    )
    return f"| {row.name} | {len(row.cells)} | {least} | {_end(row.cells)} |"


def write_random_cells(cells: Sequence[Cell]) -> str:
    least = _floor(min(cell.coverage for cell in cells))
    name = "shares of all these kinds, at random places"
    return f"| {name} | {len(cells)} | {least} for ε from 0.3 to 2.9 | | | {_end(cells)} |"


def _end(cells: Sequence[Cell]) -> str:
    mean = sum(cell.coverage for cell in cells) / len(cells)
    return f"{_floor(mean)} | {sum(cell.fails for cell in cells)}"


def _floor(share: float) -> str:
    return f".{int(share * 1000):03d}"


def cover_answerers(generator: np.random.Generator) -> Iterator[Cell]:  # noqa: ARG001
    """Compute the coverage of a share among people who answer a refusable question, exactly."""
    for epsilon, answers, total, answering, share in _grid(ANSWERS):
        design = refusable(answers=answers, epsilon=epsilon)
        truth = [answering * share, answering * (1 - share), 1 - answering]
        counts, chances = list_counts(total, design.report(truth))
        kept = joint_statistic(counts, design.channel, share) <= LIMIT
        yield Cell(epsilon=epsilon, coverage=float(chances[kept].sum()), runs=0)


def cover_follow_up(generator: np.random.Generator) -> Iterator[Cell]:
    for epsilon, answers, total, asked, share in _grid(ANSWERS):
        design = follow_up(answers=answers, epsilon=epsilon)
        truth = [asked * share, asked * (1 - share), 1 - asked]
        yield simulate(generator, design, truth=truth, total=total, share=share)


def cover_refusable_follow_up(generator: np.random.Generator) -> Iterator[Cell]:
    for epsilon, answers, total, asked, share in _grid((2, 16)):
        design = refusable_follow_up(answers=answers, epsilon=epsilon)
        answering = asked * (1 - REFUSING)
        truth = [answering * share, answering * (1 - share), asked - answering, 1 - asked]
        yield simulate(generator, design, truth=truth, total=total, share=share)


def cover_after_two(generator: np.random.Generator) -> Iterator[Cell]:
    for epsilon, answers, total, asked, share in _grid((2,)):
        design = after_two(answers=answers, epsilon=epsilon)
        others = (1 - asked) / 2
        truth = [asked * share, asked * (1 - share), others, others / 2, others / 2]
        yield simulate(generator, design, truth=truth, total=total, share=share)


def cover_item(generator: np.random.Generator) -> Iterator[Cell]:
    for epsilon, refusing, total, answering, share in _grid((0.0, 0.5)):
        design = gated_item(epsilon=epsilon)
        outside = 1 - answering
        answered = [answering * share, answering * (1 - share)]
        truth = [*answered, outside * refusing, outside * (1 - refusing)]
        yield simulate(generator, design, truth=truth, total=total, share=share)


def cover_mean(generator: np.random.Generator, *, is_routed: bool) -> Iterator[Cell]:
    """Simulate the coverage of a mean among people who answered, for five distributions."""
    make = scale_follow_up if is_routed else refusable_scale
    for (epsilon, _), points, total, asked in product(EPSILONS, POINTS, TOTALS, ASKED):
        if not relaxed_likelihood_covers(total=total, mechanisms=[any_of(epsilon)], at_looks=False):
            continue
        design = make(points=points, epsilon=epsilon)
        places = np.linspace(0.0, 1.0, points)
        weights = weigh(design, numerator=[*places, 0.0], denominator=[*[1.0] * points, 0.0])
        for shape in list_shapes(points):
            reported = design.report([*(asked * shape), 1 - asked])
            keeps = partial(
                relaxed_keeps,
                numerator=weights[0],
                denominator=weights[1],
                ratio=float(shape @ places),
                limit=LIMIT,
            )
            covered = cover_runs(generator, reported=reported, total=total, runs=RUNS, keeps=keeps)
            yield Cell(epsilon=epsilon, coverage=covered)


def cover_random_cells(generator: np.random.Generator) -> list[Cell]:
    """Simulate the coverage of shares of all kinds in random cells that use the likelihood."""
    cells: list[Cell] = []
    while len(cells) < RANDOM_CELLS:
        cells += _cover_random_cell(generator)
    return cells


def _cover_random_cell(generator: np.random.Generator) -> Iterator[Cell]:
    epsilon, total = generator.uniform(0.3, 2.9), int(exp(generator.uniform(log(30), log(3000))))
    answers, kind = int(generator.integers(2, 17)), int(generator.integers(5))
    share, asked = generator.beta(0.5, 0.5), generator.uniform(0.05, 1.0)
    if not joint_share_covers(total=total, mechanisms=[any_of(epsilon)]):
        return
    make = (refusable, follow_up, refusable_follow_up, after_two, gated_item)[kind]
    design = make(epsilon=epsilon) if kind == 4 else make(answers=answers, epsilon=epsilon)  # type: ignore[call-arg]
    rest = generator.dirichlet(np.ones(design.channel.shape[1] - 2)) * (1 - asked)
    truth = [asked * share, asked * (1 - share), *rest]
    yield simulate(generator, design, truth=truth, total=total, share=share)


def simulate(
    generator: np.random.Generator,
    design: Design,
    *,
    truth: Sequence[float],
    total: int,
    share: float,
) -> Cell:
    """Return the joint likelihood interval's coverage of the first cell among the first two."""
    covered = cover_runs(
        generator,
        reported=design.report(truth),
        total=total,
        runs=RUNS,
        keeps=lambda counts: joint_statistic(counts, design.channel, share) <= LIMIT,
    )
    return Cell(epsilon=design.epsilon, coverage=covered)


def weigh(
    design: Design, *, numerator: Sequence[float], denominator: Sequence[float]
) -> tuple[Floats, Floats]:
    return fixed_weights(
        channel=design.channel, numerator=numerator, denominator=denominator, asked=design.asked
    )


def any_of(epsilon: float) -> RandomizedResponse:
    """Return a mechanism of this strength; all symbols of a design have the same strength."""
    return RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)


def list_shapes(points: int) -> list[Floats]:
    """List shapes: all in the middle, at one end, at both ends, evenly spread, 1 in 10 far away."""
    each = np.eye(points)
    return [
        each[points // 2],
        each[0],
        (each[0] + each[-1]) / 2,
        np.full(points, 1 / points),
        0.9 * each[0] + 0.1 * each[-1],
    ]


def _grid(kinds: Sequence[float]) -> Iterator[tuple[float, int, int, float, float]]:
    for (epsilon, _), kind, total, asked, share in product(EPSILONS, kinds, TOTALS, ASKED, SHARES):
        yield epsilon, kind, total, asked, share  # type: ignore[misc]


ROWS: dict[str, Callable[[np.random.Generator], Iterator[Cell]]] = {
    "share among those who answered (exact)": cover_answerers,
    "follow-up, with its parent": cover_follow_up,
    "follow-up that 10 % refuse": cover_refusable_follow_up,
    "question behind two others": cover_after_two,
    "item behind a gate": cover_item,
    "mean among those who answered": partial(cover_mean, is_routed=False),
    "mean behind a rule, with its parent": partial(cover_mean, is_routed=True),
}
