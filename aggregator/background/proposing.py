"""Propose background questions for the file of rows, from declared counts alone.

Anyone may know a person's declared answers and the blocks that this person was asked. Every
combination of answers and blocks that the file distinguishes must therefore contain either nobody
or at least as many people as the crowd C. The same then holds for every union of combinations,
including complements, so every coarser background also qualifies.

Questions are added one after another, starting with the questions of planned comparisons. Each step
adds the question that loses the smallest share of its information. Levels with too few people are
merged with a neighbour, so that ordered answers such as ages stay in order. A question is not added
if subtracting another figure's group from the rows would leave only a few people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.background.levels import Background, Level, Levels
from aggregator.batches.combinations import Combinations, list_declared
from aggregator.results.groups.conditions import find_condition_groups
from aggregator.results.groups.crossings import may_cross_files
from aggregator.results.groups.overlaps import Groups, leave_few
from aggregator.results.groups.small_groups import hide_small_groups
from aggregator.results.groups.told import join_groups, list_size_groups
from surveys.comparing.indicators import Factor, find_indicators
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

# A question that would keep less of its information is more useful as a separate breakdown.
LEAST_KEPT = 0.5
# Sums of logarithms may differ in their last digits between processors.
DIGITS = 9
_Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The proposed background; `smallest` is the smallest number of people in a combination.

    Where the drawn blocks alone make combinations too small, each block has its own file, and
    `smallest` counts the people of the smallest block.
    """

    background: Background
    smallest: int
    has_files_of_blocks: bool = False
    crosses_files: bool = False  # whether these blocks may be compared with each other


def propose(manifest: Manifest, found: Combinations, *, told: Collection[str]) -> Proposal:
    """Propose the background of the file of rows from questions whose group sizes are shown."""
    minimum = manifest.crowd
    sizes, cells = number_rows(found.masks, found.people)
    if found.masks.shape[1] and sizes.min() < minimum:
        asked = found.people @ found.masks
        return Proposal(
            background=(),
            smallest=int(asked.min()),
            has_files_of_blocks=True,
            crosses_files=may_cross_files(manifest, found),
        )
    # Try both ways: if the few people who declined stay a separate group, it may be impossible to
    # add other questions.
    ways = [
        _add_questions(manifest, found, cells, told=told, joins_declined=joins)
        for joins in (False, True)
    ]
    way = max(ways, key=lambda one: one.rank)  # the first, if both rank equally
    return Proposal(background=way.background, smallest=way.smallest)


@dataclass(frozen=True, kw_only=True)
class _Way:
    """The questions that were added one after another."""

    background: Background
    smallest: int
    planned: int
    information: float  # the sum over the questions, in bits

    @property
    def rank(self) -> tuple[int, float]:
        return self.planned, round(self.information, DIGITS)


def _add_questions(
    manifest: Manifest,
    found: Combinations,
    cells: _Counts,
    *,
    told: Collection[str],
    joins_declined: bool,
) -> _Way:
    planned, order = find_planned(manifest), list_declared(manifest)
    left = {one.name: place for place, one in enumerate(order) if one.name in told}
    entered: list[_Candidate] = []
    while left:
        candidates = [
            candidate
            for name, place in left.items()
            for candidate in _fit(
                order[place],
                _count(cells, found.declared[:, place], found.people, k=order[place].k),
                planned=planned.get(name, []),
                minimum=manifest.crowd,
                joins_declined=joins_declined,
            )
        ]
        if not candidates:
            break
        best = max(candidates, key=lambda candidate: candidate.rank)  # the first, if several tie
        place = left.pop(best.levels.question)
        codes = best.levels.number_codes()[found.declared[:, place]]
        _, finer = number_rows(np.stack([cells, codes], axis=1), found.people)
        if not _leave_few(manifest, found, finer, told):
            entered.append(best)
            cells = finer
    names = [question.name for question in order]
    background = sorted((one.levels for one in entered), key=lambda one: names.index(one.question))
    return _Way(
        background=tuple(background),
        smallest=int(np.bincount(cells, weights=found.people).min()),
        planned=sum(one.is_planned for one in entered),
        information=sum(one.information for one in entered),
    )


def _leave_few(
    manifest: Manifest, found: Combinations, marks: _Counts, told: Collection[str]
) -> bool:
    """Return whether these marks and other figures together reveal something about a few people.

    The other figures are group sizes, and estimates about people for whom a rule holds.
    """
    sizes = join_groups(list_size_groups(manifest, found), list(told))
    checked: list[tuple[Groups, int, int, int | None]] = [
        (sizes, manifest.crowd, manifest.minimum_batch - 1, None)
    ]
    for part in found.parts:
        groups, needed = find_condition_groups(manifest, found, part=part)
        checked.append((groups, needed, manifest.crowd - 1, part))
    return any(
        groups.shape[1]
        and leave_few(
            groups[asked][:, :0],
            groups[asked],
            marks=marks[asked],
            people=found.people[asked],
            needed=needed,
            sure=sure,
        )
        for groups, needed, sure, part in checked
        for asked in [found.find_asked(part)]
    )


def find_planned(manifest: Manifest) -> dict[str, list[Level]]:
    """Map declared questions to the answers that planned comparisons distinguish."""
    planned: dict[str, list[Level]] = {}
    for names in manifest.planned_comparisons:
        for one in find_indicators(manifest, names):
            if one.is_known:
                told = one.answers if isinstance(one, Factor) else [one.yes]
                planned.setdefault(one.question.name, []).extend(told)
    return planned


def number_rows(columns: NDArray[Any], people: _Counts) -> tuple[_Counts, _Counts]:
    """Count the people in each distinct row, and find each row's index among the distinct rows."""
    if not columns.shape[1]:
        return np.array([people.sum()]), np.zeros(len(columns), dtype=np.int64)
    _, cells = np.unique(columns, axis=0, return_inverse=True)
    cells = cells.reshape(-1).astype(np.int64)
    return np.bincount(cells, weights=people).astype(np.int64), cells


def _count(cells: _Counts, codes: NDArray[np.uint8], people: _Counts, *, k: int) -> _Counts:
    """Count the people of each cell by code; the result has a row for each cell."""
    places = cells * k + codes
    counts = np.bincount(places, weights=people, minlength=(int(cells.max()) + 1) * k)
    return counts.astype(np.int64).reshape(-1, k)


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A question, with its levels, that could be added to the background next."""

    levels: Levels
    is_planned: bool
    information: float  # of its levels, in bits
    kept: float  # the share of its information that these levels keep

    @property
    def rank(self) -> tuple[bool, float]:
        return self.is_planned, round(self.kept, DIGITS)


def _fit(
    question: ManifestQuestion,
    counts: _Counts,
    *,
    planned: Sequence[Level],
    minimum: int,
    joins_declined: bool,
) -> Iterator[_Candidate]:
    """Yield the question with as many levels as the combinations so far allow, or nothing.

    `counts` has a row for each combination. Levels of planned comparisons stay if possible. With
    `joins_declined`, declined and hidden groups join the smallest answer from the start.
    """
    people = counts.sum(axis=0)
    hidden = hide_small_groups(people.tolist(), minimum=minimum)
    shown = [(code,) for code in range(question.k) if code not in hidden]
    full = [*shown, tuple(sorted(hidden))] if hidden else shown
    last = {*hidden, question.refused_code, question.not_asked_code}
    for kept in ([level for level in planned if level in shown], []) if planned else ([],):
        start = _join_last(full, people, kept=kept, last=last) if joins_declined else full
        levels = _merge(start, counts, kept=kept, last=last, minimum=minimum)
        information = _find_entropy(levels, people)
        share = information / (_find_entropy(full, people) or 1.0)
        if share >= LEAST_KEPT or (kept and share):
            found = Levels(question=question.name, levels=tuple(sorted(levels)), hidden=hidden)
            yield _Candidate(
                levels=found, is_planned=bool(kept), information=information, kept=share
            )
            return


def _join_last(
    levels: Sequence[Level], people: _Counts, *, kept: Sequence[Level], last: Set[int | None]
) -> list[Level]:
    """Merge the declined and the hidden levels with the smallest answer."""
    free = [one for one in levels if one not in kept and people[list(one)].sum()]
    answers = [one for one in free if last.isdisjoint(one)]
    if not answers or len(answers) == len(free):
        return list(levels)
    smallest = min(answers, key=lambda one: people[list(one)].sum())
    joined = [smallest, *(one for one in free if not last.isdisjoint(one))]
    merged = tuple(sorted(code for one in joined for code in one))
    return [merged if one == smallest else one for one in levels if one not in joined[1:]]


def _merge(
    levels: Sequence[Level],
    counts: _Counts,
    *,
    kept: Sequence[Level],
    last: Set[int | None],
    minimum: int,
) -> list[Level]:
    """Merge levels until, in every combination, each level has nobody or at least the minimum.

    The level with the most people in combinations that are too small merges with its smaller
    neighbour. Answers merge with answers while there are at least two. The levels in `kept` stay,
    unless all levels must become one.
    """
    levels = list(levels)
    while True:
        sums = np.stack([counts[:, list(level)].sum(axis=1) for level in levels], axis=1)
        people = sums.sum(axis=0)
        in_small = np.where(sums < minimum, sums, 0).sum(axis=0)
        if not in_small.any():
            return levels
        free = [place for place, level in enumerate(levels) if people[place] and level not in kept]
        answers = [place for place in free if last.isdisjoint(levels[place])]
        worst = max(free, key=lambda place: in_small[place], default=None)
        if worst is None or len(free) < 2:
            return [tuple(sorted(code for level in levels for code in level))]
        if worst in answers and len(answers) > 1:
            place = answers.index(worst)
            others = answers[max(place - 1, 0) : place] + answers[place + 1 : place + 2]
        else:
            others = [place for place in free if place != worst]
        other = min(others, key=lambda place: people[place])
        merged = tuple(sorted((*levels[worst], *levels[other])))
        levels[min(worst, other)] = merged
        del levels[max(worst, other)]


def _find_entropy(levels: Sequence[Level], people: _Counts) -> float:
    sizes = np.array([people[list(level)].sum() for level in levels])
    shares = sizes[sizes > 0] / people.sum()
    return float(-(shares * np.log2(shares)).sum())
