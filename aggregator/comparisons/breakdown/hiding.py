"""Decide which groups of a breakdown are hidden, question by question.

The file of rows has everybody's codes. If it shows who is in which group, a breakdown reveals
nothing new, and its groups are the levels that pages show. If it does not, exact counts of a group
are linear equations about which rows belong to the group. The group then needs ten people for each
equation (`equations.py`), and so do all hidden groups together.

Anyone can subtract the shown groups from the published totals of a question, which gives the totals
of all hidden groups together. In every set of people who were asked the same questions, such as a
block of a random subset, the hidden groups together must therefore contain either many people or
none. A group that is hidden among all people stays hidden in each block. Each block hides more
groups until its hidden groups together are large enough.

No estimate of a group uses another declared question, because that would cross two declared
questions. Counts of another declared question are released only if the file of rows contains both
questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregator.background.levels import Levels
from aggregator.batches.group_counts import GroupCounts
from aggregator.results.groups.equations import count_people_needed
from aggregator.results.groups.small_groups import hide_small_groups
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The hidden codes of a declared question, for all people and for those asked each block."""

    everywhere: frozenset[int]
    by_block: Mapping[int, frozenset[int]]  # a block without an entry hides `everywhere`
    least: int  # the number of people that a group needs

    def of(self, manifest: Manifest, question: ManifestQuestion) -> frozenset[int]:
        """Return the codes that are hidden for one scrambled question."""
        return self.of_block(manifest.blocks[question.name])

    def of_block(self, block: int | None) -> frozenset[int]:
        """Return the codes that are hidden for a block; None stands for all people."""
        return self.everywhere if block is None else self.by_block.get(block, self.everywhere)


def find_hidden(
    manifest: Manifest,
    people: Sequence[int],
    asked: Sequence[Sequence[int]],
    *,
    has_files_of_blocks: bool = False,
) -> Hidden:
    """Find the hidden codes of a question that is not in the file of rows.

    `people` counts all people by answer; `asked` counts, for each drawn block, the people who were
    asked it. Where each block has its own file, equations about one file say nothing about another.
    """
    least = manifest.crowd if has_files_of_blocks else count_people_needed(manifest)
    everywhere = hide_small_groups(people, minimum=least)
    return Hidden(
        everywhere=everywhere,
        by_block={
            block: hide_small_groups(
                own, minimum=count_people_needed(manifest, block=block), already=everywhere
            )
            for block, own in enumerate(asked)
        },
        least=least,
    )


def find_hidden_levels(manifest: Manifest, levels: Levels) -> Hidden:
    """Find the hidden codes of a question that is in the file of rows."""
    hidden = frozenset(code for level in levels.levels if levels.is_hidden(level) for code in level)
    return Hidden(everywhere=hidden, by_block={}, least=manifest.crowd)


def count_people(counts: GroupCounts) -> list[int]:
    """Count the people of each group from the first column, as every column counts all reports."""
    people: list[int] = counts.columns[0].sum(axis=1).tolist()
    return people
