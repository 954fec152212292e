"""The privacy loss of a whole survey: a ledger of its questions and their basic sum.

The basic sum is what surveys state; `privacy.mechanism.composition_with_delta` has
the weaker statements that need a delta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import fsum, inf, nextafter

from privacy.checks import (
    check_epsilons,
    check_positive,
    check_whole,
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One question in the ledger of a survey.

    Parameters
    ----------
    name : str
        Name of the question, unique in the ledger.
    epsilon : float
        Epsilon of its report in nats, positive and finite; a "select several" is one entry
        with the sum of its items.
    parents : tuple of str, optional
        Names of the questions whose answers decide whether it is asked; none for a top-level
        question. Questions linked in this way, directly or indirectly, form a block.
    same_fact : str, optional
        Name of another question that asks about the same fact; empty if there is none.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite.

    Examples
    --------
    >>> Entry(name="moved", epsilon=1.1, parents=("ever",)).parents
    ('ever',)
    """

    name: str
    epsilon: float
    parents: tuple[str, ...] = ()
    same_fact: str = ""

    def __post_init__(self) -> None:
        check_positive(f"epsilon of {self.name!r}", self.epsilon)


def basic_epsilon(entries: Sequence[Entry], drawn: int | None = None) -> float:
    """Add up a survey's epsilons: the largest sum over any set of questions that can be drawn.

    Parameters
    ----------
    entries : sequence of Entry
        Every question of the survey, in any order.
    drawn : int, optional
        Number m of blocks drawn at random for each person; None if everybody gets all blocks.

    Returns
    -------
    float
        Epsilon in nats, rounded up: the sum over all blocks, or over the m largest.

    Raises
    ------
    ValueError
        If there are no entries, one is not an Entry, a name occurs twice, a parent is unknown,
        parents form a cycle, drawn is not from 1 to the number of blocks, or the sum is not
        finite.

    Notes
    -----
    Branches not taken do not reduce the sum: a dependant reports "not asked" through its own
    mechanism. Which blocks were drawn is public, so drawing does not amplify privacy either.

    References
    ----------
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy,
    theorem 3.14 (basic composition).

    Examples
    --------
    >>> ledger = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5, parents=("a",)),
    ...           Entry(name="c", epsilon=1.25)]
    >>> round(basic_epsilon(ledger), 9), round(basic_epsilon(ledger, drawn=1), 9)
    (2.75, 1.5)
    """
    blocks = _find_blocks(_with_ancestors(entries))
    return _add_largest(blocks, drawn, {entry.name for entry in entries})


def statement_epsilon(entries: Sequence[Entry], name: str, drawn: int | None = None) -> float:
    """Add up what a survey reveals about the fact that one question asks for.

    That is its own report, those of its dependants, and those of all questions that ask for the
    same fact.

    Parameters
    ----------
    entries : sequence of Entry
        Every question of the survey, in any order.
    name : str
        The question.
    drawn : int, optional
        Number m of blocks drawn at random for each person; None if everybody gets all blocks.

    Returns
    -------
    float
        Epsilon in nats, rounded up: its own plus that of every dependant and of every question
        with the same fact, at any depth; with drawn, the largest such sum over m blocks.

    Raises
    ------
    ValueError
        If the ledger or drawn is not valid (as for `basic_epsilon`), a question with the same
        fact is unknown, or the ledger has no such question.

    Notes
    -----
    Whether a dependant was asked depends on the parent's answer, so its report also reveals
    something about the parent. Two reports about one fact compose like two reports about one
    question.

    Examples
    --------
    >>> ledger = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5, parents=("a",)),
    ...           Entry(name="c", epsilon=1.25, same_fact="a")]
    >>> [round(statement_epsilon(ledger, name), 9) for name in "abc"]
    [2.75, 0.5, 2.75]
    >>> round(statement_epsilon(ledger, "a", drawn=1), 9)
    1.5
    """
    blocks = _find_blocks(_with_ancestors(entries))
    tells = _find_telling(entries)
    if name not in tells:
        raise ValueError(f"name must be one of the entries, got {name!r}")
    return _add_largest(blocks, drawn, _reach(tells, name))


def statement_epsilons(entries: Sequence[Entry], drawn: int | None = None) -> dict[str, float]:
    """Return `statement_epsilon` of every question, for much less than one call each.

    Parameters
    ----------
    entries : sequence of Entry
        Every question of the survey, in any order.
    drawn : int, optional
        Number m of blocks drawn at random for each person; None if everybody gets all blocks.

    Returns
    -------
    dict of str to float
        Epsilon in nats by name, rounded up.

    Raises
    ------
    ValueError
        If the ledger or drawn is not valid (as for `basic_epsilon`), or a question with the same
        fact is unknown.

    Examples
    --------
    >>> ledger = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5, parents=("a",))]
    >>> {name: round(epsilon, 9) for name, epsilon in statement_epsilons(ledger).items()}
    {'a': 1.5, 'b': 0.5}
    """
    blocks = _find_blocks(_with_ancestors(entries))
    tells = _find_telling(entries)
    return {entry.name: _add_largest(blocks, drawn, _reach(tells, entry.name)) for entry in entries}


def cumulative_epsilon(per_wave: Sequence[float]) -> float:
    """Add up the epsilons of the waves that one person may have answered.

    Parameters
    ----------
    per_wave : sequence of float
        Basic epsilon of every wave, each positive and finite.

    Returns
    -------
    float
        Their sum in nats, rounded up.

    Raises
    ------
    ValueError
        If there is no wave, an epsilon is not positive and finite, or their sum is not finite.

    Examples
    --------
    >>> round(cumulative_epsilon([1.5, 1.5, 0.5]), 9)
    3.5
    """
    check_epsilons("per_wave", per_wave)
    return round_up_sum("per_wave", per_wave)


def group_epsilon(epsilon: float, people: int) -> float:
    """Bound what the reports of several people together reveal about their common secret.

    Parameters
    ----------
    epsilon : float
        Epsilon of each of them in nats, positive and finite.
    people : int
        Number of people, at least 1.

    Returns
    -------
    float
        people times epsilon, rounded up.

    Raises
    ------
    ValueError
        If people is not a whole number, a parameter is out of range or the product is not finite.

    References
    ----------
    Dwork, C. and Roth, A. (2014), theorem 2.2.

    Examples
    --------
    >>> round(group_epsilon(0.5, 4), 9)
    2.0
    """
    epsilon = check_positive("epsilon", epsilon)
    people = check_whole("people", people, at_least=1)
    try:
        product = float(Fraction(epsilon) * people)
    except OverflowError:
        raise ValueError(f"people times epsilon must be finite, got {people!r}") from None
    return nextafter(product, inf)


def _with_ancestors(entries: Sequence[Entry]) -> list[tuple[Entry, frozenset[str]]]:
    """Check the ledger, and return every entry with its parents, their parents and so on."""
    if not entries:
        raise ValueError(f"entries must hold at least one question, got {entries!r}")
    by_name: dict[str, Entry] = {}
    for entry in entries:
        if not isinstance(entry, Entry):
            raise ValueError(f"entries must be of type Entry, got {entry!r}")
        if entry.name in by_name:
            raise ValueError(f"entries must have different names, got {entry.name!r} twice")
        by_name[entry.name] = entry
    for entry in entries:
        for parent in entry.parents:
            if parent not in by_name:
                raise ValueError(f"parents must be among the entries, got {parent!r}")
        if entry.same_fact and entry.same_fact not in by_name:
            raise ValueError(f"same_fact must be among the entries, got {entry.same_fact!r}")
    sorter = TopologicalSorter({entry.name: entry.parents for entry in entries})
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        circle = " behind ".join(map(repr, error.args[1]))
        raise ValueError(f"parents must not form a cycle, got {circle}") from None
    ancestors: dict[str, frozenset[str]] = {}
    for name in order:  # parents first
        parents = by_name[name].parents
        ancestors[name] = frozenset(parents).union(*(ancestors[parent] for parent in parents))
    return [(entry, ancestors[entry.name]) for entry in entries]


def _find_blocks(entries: Sequence[tuple[Entry, frozenset[str]]]) -> list[list[Entry]]:
    """The entries of each set of questions that parents link together."""
    blocks: list[tuple[set[str], list[Entry]]] = []
    for entry, ancestors in entries:
        names, members = {entry.name, *ancestors}, [entry]
        apart = []
        for block in blocks:
            if block[0] & names:
                names |= block[0]
                members += block[1]
            else:
                apart.append(block)
        blocks = [*apart, (names, members)]
    return [members for _, members in blocks]


def _find_telling(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Names of the other questions whose reports directly reveal something about each one."""
    tells: dict[str, set[str]] = {entry.name: set() for entry in entries}
    for entry in entries:
        for parent in entry.parents:
            tells[parent].add(entry.name)
        if entry.same_fact:
            tells[entry.same_fact].add(entry.name)
            tells[entry.name].add(entry.same_fact)
    return tells


def _reach(tells: Mapping[str, set[str]], name: str) -> set[str]:
    """Names of the questions that reveal something about this one at any depth, and its own."""
    found, waiting = {name}, [name]
    while waiting:
        new = tells[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _add_largest(blocks: Sequence[Sequence[Entry]], drawn: int | None, names: set[str]) -> float:
    """Add up the named entries of the blocks in which their sums are largest."""
    count = len(blocks)
    if drawn is not None:
        count = check_whole("drawn", drawn, at_least=1, at_most=len(blocks))
    parts = [[float(one.epsilon) for one in block if one.name in names] for block in blocks]
    # Exact sums: two blocks must be told apart even if floats cannot show the difference.
    largest = sorted(parts, key=lambda part: sum(map(Fraction, part)))[-count:]
    return round_up_sum("entries", [epsilon for part in largest for epsilon in part])


def round_up_sum(argument: str, values: Sequence[float]) -> float:
    """Add up epsilons so that the result is never too small.

    Parameters
    ----------
    argument : str
        Name of the argument that holds the values, for the error message.
    values : sequence of float
        Epsilons in nats.

    Returns
    -------
    float
        The correctly rounded sum, raised to the next float.

    Raises
    ------
    ValueError
        If the sum is not finite.

    Examples
    --------
    >>> round_up_sum("epsilons", [1.0, 0.5])
    1.5000000000000002
    """
    try:
        return nextafter(fsum(values), inf)
    except OverflowError:
        raise ValueError(f"{argument} must have a finite sum, got {values!r}") from None
