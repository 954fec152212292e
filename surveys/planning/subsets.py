"""Computes what it costs to ask each person only some blocks of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from privacy.planning.budgets import pair_fraction, question_fraction
from surveys.manifest.manifest import Manifest

# The number of sizes that are shown first, which is small enough to compare them at a glance.
FIRST_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Subset:
    """A random subset, which asks each person `drawn` of `blocks` blocks."""

    drawn: int
    blocks: int
    total_epsilon: float
    chosen: bool

    @property
    def asked(self) -> float:
        """The fraction of people who are asked a given question."""
        return question_fraction(drawn=self.drawn, questions=self.blocks)

    @property
    def paired(self) -> float:
        """The fraction of people who are asked two given questions from different blocks."""
        return pair_fraction(drawn=self.drawn, questions=self.blocks)


def describe_subset(manifest: Manifest, *, drawn: int | None) -> Subset | None:
    """Describe a random subset, or return None if everyone is asked everything."""
    if drawn is None:
        return None
    return Subset(
        drawn=drawn,
        blocks=manifest.block_count,
        total_epsilon=replace(manifest, drawn=drawn).epsilon,
        chosen=drawn == manifest.drawn,
    )


def list_subsets(manifest: Manifest) -> Sequence[Subset]:
    """List the sizes that an author can choose, with the current one. A single block has none."""
    blocks = manifest.block_count
    if blocks < 2:
        return []
    shown = {*range(1, min(FIRST_SHOWN, blocks - 1) + 1), max(1, blocks // 2), blocks - 1}
    if manifest.drawn is not None:
        shown.add(manifest.drawn)
    found = (describe_subset(manifest, drawn=drawn) for drawn in sorted(shown))
    return [subset for subset in found if subset is not None]


def list_blocks(manifest: Manifest) -> list[list[int]]:
    """List the numbers of the questions in each block."""
    blocks: list[list[int]] = [[] for _ in range(manifest.block_count)]
    for question in manifest.questions:
        if question.name in manifest.blocks:
            blocks[manifest.blocks[question.name]].append(question.number)
    return blocks
