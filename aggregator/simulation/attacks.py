"""The three attacks on the page “Break it”, with the numbers of a survey of invented answers.

The attacks need only counts and the manifest, and read no row. Nothing is published or charged. The
noise here protects nobody. It comes from privacy.central.attacks, not from the sampler of releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aggregator.batches.columns import Columns
from aggregator.results.display import Results
from privacy.central.attacks import (
    Reconstruction,
    differencing_success,
    needle_success,
    reconstruct,
)
from privacy.central.noise import discrete_laplace_bound
from privacy.central.selection import permute_and_flip_probabilities
from surveys.formatting import percent
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseKind
from surveys.releasing.choice import list_candidates
from surveys.releasing.noise import count_most_symbols

GUESSING = 0.5  # both hypotheses are equally likely beforehand
MOST_PEOPLE = 200  # the most people whose answers are reconstructed
# Fewer people would make the shares of recovered answers too rough.
LEAST_PEOPLE = 20
RUNS = 20  # draws of noise; more would not change any whole percentage
SEED = 20261123  # the page is the same on every visit


@dataclass(frozen=True, kw_only=True)
class Target:
    """The answer, or the code, that attackers look for."""

    question: ManifestQuestion
    text: str
    count: int
    total: int

    @property
    def people(self) -> int:
        """The number of people whose answers are reconstructed; half of them gave this answer."""
        return min(MOST_PEOPLE, 2 * min(self.count, self.total - self.count))


@dataclass(frozen=True, kw_only=True)
class Bar:
    name: str
    kind: str  # exact, release or guessing
    right: float

    @property
    def length(self) -> str:
        return f"{100 * self.right:.1f}%"

    @property
    def text(self) -> str:
        return percent(self.right)


@dataclass(frozen=True, kw_only=True)
class Attacks:
    """Everything that the page shows for one ε."""

    target: Target
    epsilon: float
    # Subtract two figures.
    both_noisy: float
    figure_scale: float
    noise_bound: int  # the noise is smaller than this in at least 95 % of draws
    leader: float | None  # for two tied answers; None if the question can have no leader
    differencing: tuple[Bar, ...]
    # Look for one person.
    symbols: int
    cell_scale: float
    needle: tuple[Bar, ...]
    # Solve for everyone.
    solved: Reconstruction
    group_scale: float
    reconstruction: tuple[Bar, ...]
    runs: int = RUNS

    @property
    def found(self) -> str:
        """What a successful attack finds."""
        return "answer" if self.target.question.is_declared else "code"

    @property
    def replaced_epsilon(self) -> float:
        """The ε about an answer or a code, where one report is replaced by another.

        Replacing a report removes one and adds one, so it costs twice as much.
        """
        return 2 * self.epsilon

    @property
    def without(self) -> int:
        """The figure without one person who gave this answer."""
        return self.target.count - 1


def play_attacks(results: Results, *, epsilon_hundredths: int) -> Attacks | None:
    """Play the attacks, or return None if too few reports differ for an attack."""
    target = find_target(results)
    if target is None:
        return None
    epsilon = epsilon_hundredths / HUNDREDTHS
    asked = [one.name for one in results.manifest.questions if one.is_answered]
    symbols = count_most_symbols(results.manifest, asked)
    # In "select several", one person may give several answers.
    has_leader = not target.question.has_items and target.question in list_candidates(
        results.manifest, ReleaseKind.LEADER
    )
    people = target.people
    smallest = min(results.wave.crowd, people // 2)
    groups = 2 * people
    solved = _reconstruct(people, smallest, epsilon_hundredths)
    return Attacks(
        target=target,
        epsilon=epsilon,
        both_noisy=differencing_success(scale=1 / epsilon, noisy_figures=2),
        figure_scale=1 / epsilon,
        noise_bound=discrete_laplace_bound(scale=1 / epsilon),
        leader=_lead(epsilon) if has_leader else None,
        differencing=_list_bars(
            exact=differencing_success(scale=0), release=differencing_success(scale=1 / epsilon)
        ),
        symbols=symbols,
        cell_scale=symbols / epsilon,
        needle=_list_bars(
            exact=needle_success(symbols=symbols, scale=0),
            release=needle_success(symbols=symbols, scale=symbols / epsilon),
        ),
        solved=solved,
        group_scale=groups / epsilon,
        reconstruction=_list_bars(
            exact=_reconstruct(people, 1, None).right,
            in_groups=(smallest, _reconstruct(people, smallest, None).right),
            release=solved.right,
        ),
    )


def _list_bars(
    *, exact: float, release: float, in_groups: tuple[int, float] | None = None
) -> tuple[Bar, ...]:
    bars = [Bar(name="Exact figures", kind="exact", right=exact)]
    if in_groups is not None:
        smallest, right = in_groups
        name = f"Exact, no group below {smallest} people"
        bars.append(Bar(name=name, kind="exact", right=right))
    bars.append(Bar(name="A release", kind="release", right=release))
    bars.append(Bar(name="Guessing", kind="guessing", right=GUESSING))
    return tuple(bars)


def _lead(epsilon: float) -> float:
    """Return how often one person's answer is drawn as leader of two otherwise tied answers."""
    return float(permute_and_flip_probabilities([1, 0], rate=epsilon)[0])


@lru_cache(maxsize=256)
def _reconstruct(people: int, smallest: int, epsilon_hundredths: int | None) -> Reconstruction:
    """Recover which half of these people gave an answer; if ε is None, counts are exact."""
    bits = np.random.default_rng(SEED).permutation(np.arange(people) % 2)
    groups = 2 * people
    return reconstruct(
        bits=bits.tolist(),
        groups=groups,
        smallest=smallest,
        # All counts together spend ε, so each spends an equal part.
        scale=groups * HUNDREDTHS / epsilon_hundredths if epsilon_hundredths else 0,
        runs=RUNS if epsilon_hundredths else 1,
        seed=SEED,
    )


def find_target(results: Results) -> Target | None:
    """Find the answer that splits people most evenly; prefer declared answers."""
    found = list(_list_targets(results))
    declared = [target for target in found if target.question.is_declared]
    usable = [
        target
        for targets in (declared, found)
        for target in targets
        if target.people >= LEAST_PEOPLE
    ]
    if not usable:
        return None
    first = usable[0].question.is_declared
    return min(
        (target for target in usable if target.question.is_declared == first),
        key=lambda target: abs(2 * target.count - target.total) / target.total,
    )


def _list_targets(results: Results) -> Iterator[Target]:
    manifest: Manifest = results.manifest
    questions = {question.name: question for question in manifest.questions}
    counts = Columns.of(manifest).read_counts(results.snapshot.counts)
    for symbol, cells in zip(manifest.symbols, counts, strict=True):
        question = questions[symbol.question]
        for code, text in _list_answers(question, symbol):
            yield Target(question=question, text=text, count=cells[code], total=sum(cells))


def _list_answers(question: ManifestQuestion, symbol: Symbol) -> Iterator[tuple[int, str]]:
    """List the codes that stand for an answer in words."""
    if symbol.is_gate:
        return
    if question.has_items:
        yield 1, next(one.text for one in question.options if one.code == symbol.item)
    elif question.is_rounded:
        yield 1, str(question.maximum)
    else:
        for option in question.options:
            yield option.code, option.text
