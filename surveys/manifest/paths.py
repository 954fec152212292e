"""The fewest and the most pages that people can see: the shortest and the longest path.

Rules decide the path from a person's answers. The form of a report is the same for all paths, but
the time that people take to answer is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.rules import holds, leaves

# If paths differ by more pages, the time to answer can show which path a person took.
MOST_PAGES_APART = 2
MAX_CASES = 20_000

Codes = dict[str, int | None]
Range = tuple[int, int]  # the fewest and the most pages


@dataclass(frozen=True, kw_only=True)
class PathLengths:
    """Numbers of pages between the start and the end, including information texts.

    If each person gets a random subset, both numbers are for the blocks in which they differ most.
    If `is_exact` is False, `shortest` may be too small and `longest` too large, because there were
    too many cases to try or because questions connect several blocks.
    """

    shortest: int
    longest: int
    is_exact: bool = True

    @property
    def differ_much(self) -> bool:
        """Whether the time that people take to answer can show which path they took."""
        return self.longest - self.shortest > MOST_PAGES_APART


def measure_paths(
    questions: Sequence[ManifestQuestion], *, blocks: Mapping[str, int], drawn: int | None
) -> PathLengths:
    """Find the shortest and longest path if each person gets `drawn` blocks (None for all)."""
    always = [0, 0]
    of_block: dict[int, Range] = {}
    exact = True
    for part in _split(questions, blocks=blocks, by_block=drawn is not None):
        counted, few, many = _measure(part.questions, part.counted)
        exact = exact and counted and not part.is_bound
        if part.block is None or drawn is None:
            always[0] += few
            always[1] += many
        else:
            of_block[part.block] = (few, many)
    apart = sorted(of_block.values(), key=lambda pages: pages[1] - pages[0], reverse=True)
    for few, many in apart[:drawn]:
        always[0] += few
        always[1] += many
    return PathLengths(shortest=always[0], longest=always[1], is_exact=exact)


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Questions that rules connect. Only the pages of questions in `counted` are counted."""

    questions: tuple[ManifestQuestion, ...]
    counted: frozenset[str]
    block: int | None
    is_bound: bool = False


def _split(
    questions: Sequence[ManifestQuestion], *, blocks: Mapping[str, int], by_block: bool
) -> Iterator[_Part]:
    """Divide the questions into sets that no rule connects, and by block if blocks are drawn.

    An information text or an unscrambled question can connect several blocks. Such blocks are not
    independent, so the sum of their differences is only a bound (`is_bound`).
    """
    for component in _connect(questions):
        owners = dict.fromkeys(question.name for question in component)
        if by_block:
            owners = _find_owners(component, blocks)
        several = len(set(owners.values())) > 1
        for block in dict.fromkeys(owners.values()):
            counted = frozenset(name for name, owner in owners.items() if owner == block)
            yield _Part(questions=component, counted=counted, block=block, is_bound=several)


def _find_owners(
    component: Sequence[ManifestQuestion], blocks: Mapping[str, int]
) -> dict[str, int | None]:
    """Map each question to the block that must be drawn for it to be asked, or to None.

    A question without a block, such as an information text, gets a block from its rule, if any.
    """
    owners: dict[str, int | None] = {}
    for question in component:
        named = [owners[name] for name in _names_in_rule(question, component)]
        from_rule = next((block for block in named if block is not None), None)
        owners[question.name] = blocks.get(question.name, from_rule)
    return owners


def _names_in_rule(question: ManifestQuestion, questions: Sequence[ManifestQuestion]) -> list[str]:
    if question.rule is None:
        return []
    named = {leaf["name"] for leaf in leaves(question.rule)}
    return [one.name for one in questions if named.intersection(one.answer_names)]


def _connect(questions: Sequence[ManifestQuestion]) -> list[tuple[ManifestQuestion, ...]]:
    """Group the questions that rules connect, with each group in survey order."""
    part = {question.name: number for number, question in enumerate(questions)}
    for question in questions:
        for name in _names_in_rule(question, questions):
            old, new = part[question.name], part[name]
            part = {each: new if number == old else number for each, number in part.items()}
    return [
        tuple(question for question in questions if part[question.name] == number)
        for number in dict.fromkeys(part.values())
    ]


def _measure(
    questions: Sequence[ManifestQuestion], counted: frozenset[str]
) -> tuple[bool, int, int]:
    """Return whether the numbers of pages are exact, and the fewest and the most pages."""
    try:
        return True, *_Search(questions, counted).measure()
    except _TooMany:
        pages = [_count_pages(question) for question in questions if question.name in counted]
        rules = [question.rule for question in questions if question.name in counted]
        few = sum(p[0] for p, rule in zip(pages, rules, strict=True) if rule is None)
        return False, few, sum(p[1] for p in pages)


def _count_pages(question: ManifestQuestion) -> Range:
    """Return the fewest and the most pages of a question that is asked.

    Only a follow-up after Yes adds a page. Items of a score and grouped questions share pages, but
    each of them takes as long to answer as a page.
    """
    if question.score is not None:
        return (0 if question.is_second else len(question.score.items),) * 2
    return 1, 1 + question.described.has_follow_up


class _TooMany(Exception):
    """There are too many cases to try."""


class _Search:
    """A search over every answer that a rule distinguishes, question by question.

    Answers that no later rule refers to are dropped, so that cases that differ only in these
    answers merge again.
    """

    def __init__(self, questions: Sequence[ManifestQuestion], counted: frozenset[str]) -> None:
        self._questions, self._counted = questions, counted
        rules = (question.rule for question in questions if question.rule is not None)
        self._leaves = [leaf for rule in rules for leaf in leaves(rule)]
        self._cases = 0

    def measure(self) -> Range:
        states: dict[frozenset[tuple[str, int | None]], Range] = {frozenset(): (0, 0)}
        for question, needed in zip(self._questions, self._list_needed(), strict=True):
            after: dict[frozenset[tuple[str, int | None]], Range] = {}
            for state, (few, many) in states.items():
                for codes, (least, most) in self._answer(question, dict(state)):
                    known = {**dict(state), **codes}.items()
                    key = frozenset(one for one in known if one[0] in needed and one[1] is not None)
                    old = after.get(key, (few + least, many + most))
                    after[key] = min(old[0], few + least), max(old[1], many + most)
            states = after
        return min(few for few, _ in states.values()), max(many for _, many in states.values())

    def _list_needed(self) -> list[frozenset[str]]:
        """List, for each question, the answers that the rules of later questions refer to."""
        needed = [frozenset[str]()]
        for question in reversed(self._questions[1:]):
            named = leaves(question.rule) if question.rule is not None else ()
            needed.append(needed[-1].union(leaf["name"] for leaf in named))
        return needed[::-1]

    def _answer(self, question: ManifestQuestion, codes: Codes) -> Iterator[tuple[Codes, Range]]:
        """Yield each way to answer one question, with the fewest and most pages that it takes."""
        nothing: Codes = dict.fromkeys(question.answer_names)
        if question.rule is not None and not holds(question.rule, codes):
            yield nothing, (0, 0)
            return
        few, many = _count_pages(question) if question.name in self._counted else (0, 0)
        if question.refusal or not question.is_answered:
            yield nothing, (few, many)
        if not question.is_answered:
            return
        kinds = [self._list_kinds(name, question) for name in question.answer_names]
        for chosen in product(*kinds):
            self._cases += 1
            if self._cases > MAX_CASES:
                raise _TooMany
            if question.limit is not None and sum(chosen) > question.limit:
                continue
            answer: Codes = dict(zip(question.answer_names, chosen, strict=True))
            # With a follow-up, only the answer No (code 0) takes a single page.
            pages = (few, few) if chosen == (0,) else (many, many)
            yield answer, pages if question.described.has_follow_up else (few, many)

    def _list_kinds(self, name: str, question: ManifestQuestion) -> list[int]:
        """Return one code of each group of codes that the rules distinguish."""
        about = [leaf["is"] for leaf in self._leaves if leaf["name"] == name]
        if not about and not question.described.has_follow_up:
            return [0]
        if question.described.has_follow_up:
            about.append([0])
        count = 2 if question.has_items else question.answers
        kinds = {tuple(code in chosen for chosen in about): code for code in reversed(range(count))}
        return sorted(kinds.values())
