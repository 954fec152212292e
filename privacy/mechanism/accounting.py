"""The privacy loss of a whole survey: a ledger of its questions and their basic sum.

Surveys state the basic sum; `privacy.mechanism.composition_with_delta` has the weaker
bounds that need a delta.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        Epsilon of the question's report in nats, positive and finite; a "select several"
        question is one entry with the sum over its items.
    parents : tuple of str, optional
        Names of the questions whose answers decide whether this one is asked; empty for a
        top-level question. Questions linked in this way, directly or indirectly, form a block.
    same_fact : str, optional
        Name of another question that asks about the same fact, or an empty string if there is none.

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
        Number m of blocks drawn at random for each person; None if everyone gets all blocks.

    Returns
    -------
    float
        Epsilon in nats, rounded up: the sum over all blocks, or over the m largest.

    Raises
    ------
    ValueError
        If there are no entries, an entry is of another type, a name occurs twice, a parent is
        unknown, parents form a cycle, drawn is not from 1 to the number of blocks, or the sum is
        not finite.

    Notes
    -----
    A branch that is not taken does not reduce the sum: a dependant reports "not asked" through its
    own mechanism. The drawn blocks are public, so drawing does not amplify privacy either.

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
    return _add_largest(blocks, drawn, frozenset(entry.name for entry in entries))


def statement_epsilons(entries: Sequence[Entry], drawn: int | None = None) -> dict[str, float]:
    """Add up, for each question, what the whole survey reveals about the fact behind it.

    Parameters
    ----------
    entries : sequence of Entry
        Every question of the survey, in any order.
    drawn : int, optional
        Number m of blocks drawn at random for each person; None if everyone gets all blocks.

    Returns
    -------
    dict of str to float
        Epsilon in nats by question name, rounded up: the sum over all questions that `find_telling`
        names. If blocks are drawn, this is the largest such sum over m blocks.

    Raises
    ------
    ValueError
        If the ledger or drawn is not valid (as for `basic_epsilon`).

    Examples
    --------
    >>> ledger = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5, parents=("a",)),
    ...           Entry(name="c", epsilon=1.25, same_fact="a")]
    >>> {name: round(epsilon, 9) for name, epsilon in statement_epsilons(ledger).items()}
    {'a': 2.75, 'b': 0.5, 'c': 2.75}
    >>> round(statement_epsilons(ledger, drawn=1)["a"], 9)
    1.5
    """
    blocks = _find_blocks(_with_ancestors(entries))
    telling = find_telling(entries)
    return {entry.name: _add_largest(blocks, drawn, telling[entry.name]) for entry in entries}


def find_telling(entries: Sequence[Entry]) -> dict[str, frozenset[str]]:
    """Find, for each question, all questions whose reports reveal something about its fact.

    Parameters
    ----------
    entries : sequence of Entry
        Every question of the survey, in any order.

    Returns
    -------
    dict of str to frozenset of str
        For each question, its own name and the names of all questions that can be reached from it
        through dependants and through questions about the same fact.

    Raises
    ------
    ValueError
        If the ledger is not valid (as for `basic_epsilon`).

    Notes
    -----
    Whether a dependant was asked depends on the parent's answer, so its report also reveals
    something about the parent. Two reports about one fact compose like two reports about one
    question.

    Examples
    --------
    >>> ledger = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5, parents=("a",)),
    ...           Entry(name="c", epsilon=1.25, same_fact="b")]
    >>> {name: sorted(names) for name, names in find_telling(ledger).items()}
    {'a': ['a', 'b', 'c'], 'b': ['b', 'c'], 'c': ['b', 'c']}
    """
    _with_ancestors(entries)
    directly = _find_telling_directly(entries)
    return {entry.name: _reach(directly, entry.name) for entry in entries}


def pick_largest(
    values: Mapping[str, float], blocks: Iterable[Iterable[str]], drawn: int | None = None
) -> list[float]:
    """Return the values in the blocks with the largest sums.

    Parameters
    ----------
    values : mapping of str to float
        A value of at least 0 for some of the questions, by name.
    blocks : iterable of iterables of str
        The names of the questions in each block.
    drawn : int, optional
        Number m of blocks drawn at random for each person, at least 1; None for all blocks.

    Returns
    -------
    list of float
        The values of the questions in the m blocks.

    Raises
    ------
    ValueError
        If drawn is not a whole number of at least 1.

    Examples
    --------
    >>> pick_largest({"a": 1.0, "b": 0.5, "d": 1.25}, [["a", "b"], ["c"], ["d"]], drawn=1)
    [1.0, 0.5]
    """
    parts = [[values[name] for name in block if name in values] for block in blocks]
    if drawn is not None:
        check_whole("drawn", drawn, at_least=1)
        # Use exact sums, because floats cannot always distinguish the sums of two blocks.
        parts.sort(key=lambda part: sum(map(Fraction, part)), reverse=True)
    return [value for part in parts[:drawn] for value in part]


def cumulative_epsilon(per_wave: Sequence[float]) -> float:
    """Add up the epsilons of the waves that one person may have answered.

    Parameters
    ----------
    per_wave : sequence of float
        Basic epsilon of every wave, each positive and finite.

    Returns
    -------
    float
        Sum of these epsilons in nats, rounded up.

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


def _with_ancestors(entries: Sequence[Entry]) -> list[tuple[Entry, frozenset[str]]]:
    """Check the ledger, and return every entry with the names of all its ancestors."""
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
    """Group the entries of questions that are linked through parents."""
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


def _find_telling_directly(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Return the other questions whose reports directly reveal something about each question."""
    tells: dict[str, set[str]] = {entry.name: set() for entry in entries}
    for entry in entries:
        for parent in entry.parents:
            tells[parent].add(entry.name)
        if entry.same_fact:
            tells[entry.same_fact].add(entry.name)
            tells[entry.name].add(entry.same_fact)
    return tells


def _reach(tells: Mapping[str, set[str]], name: str) -> frozenset[str]:
    """Return the names of a question and of all that reveal something about it, even indirectly."""
    found, waiting = {name}, [name]
    while waiting:
        new = tells[waiting.pop()] - found
        found |= new
        waiting += new
    return frozenset(found)


def _add_largest(
    blocks: Sequence[Sequence[Entry]], drawn: int | None, names: frozenset[str]
) -> float:
    """Add up the entries in `names` over the blocks in which their sums are largest."""
    if drawn is not None:
        drawn = check_whole("drawn", drawn, at_least=1, at_most=len(blocks))
    values = {
        one.name: float(one.epsilon) for block in blocks for one in block if one.name in names
    }
    named = [[one.name for one in block] for block in blocks]
    return round_up_sum("entries", pick_largest(values, named, drawn))


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
