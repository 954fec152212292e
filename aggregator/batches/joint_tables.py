"""Tables of the codes that rules and gates connect, counted when a batch is sealed.

Whether someone is asked a question depends on earlier answers, so joint answers say more than
separate ones. Each question with a rule has one table, with the symbols that the rule reads and
then the question's own symbol. "Select several" has one table for each item, with the gate in
between.

Codes that the rule does not distinguish share a class, so that tables stay small. Only reports in
which the question's block was drawn count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import read_codes
from aggregator.batches.packing import split_columns
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.rules import leaves

# A larger table would have few reports in each cell, and computing its likelihood would
# take seconds.
MOST_CELLS = 1024
MOST_CLASSES = 32  # combinations of classes over all symbols that a rule reads
ReadColumn = Callable[[int], NDArray[np.uint8]]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One symbol of a table; `classes` lists the class of each code."""

    symbol: Symbol
    column: int
    classes: tuple[int, ...]

    @property
    def size(self) -> int:
        return max(self.classes) + 1


@dataclass(frozen=True, kw_only=True)
class JointTable:
    """The axes of one table: the rule's symbols, then the question's gate and symbol."""

    question: ManifestQuestion
    item: int | None  # the option of a "select several" question
    block: int | None
    mask: int | None  # the column that says whether the question was drawn
    parents: tuple[Axis, ...]
    own: tuple[Axis, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (*self.parents, *self.own)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(axis.symbol.name for axis in self.axes)

    @property
    def parent_names(self) -> tuple[str, ...]:
        return tuple(axis.symbol.name for axis in self.parents)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def cells(self) -> int:
        return prod(self.shape)

    @property
    def is_too_large(self) -> bool:
        classes = prod(axis.size for axis in self.parents)
        return self.cells > MOST_CELLS or classes > MOST_CLASSES


def list_tables(manifest: Manifest) -> list[JointTable]:
    """List the tables to count, in the order that all batches of a wave use."""
    listed = []
    for table in _list_all(manifest):
        # If the table is too large, an item still has one with its gate, because the item's share
        # refers to the people whose gate says "answered".
        small = replace(table, parents=()) if table.is_too_large else table
        if len(small.axes) > 1:
            listed.append(small)
    return listed


def find_too_large(manifest: Manifest) -> frozenset[str]:
    """Return the names of the questions whose rules would make tables too large to be counted."""
    return frozenset(table.question.name for table in _list_all(manifest) if table.is_too_large)


def count_tables(
    packed: bytes, *, size: int, ks: Sequence[int], tables: Sequence[JointTable]
) -> list[list[int]]:
    """Count the reports of one batch in each cell of each table; the last axis varies fastest."""
    if not tables:
        return []
    read = read_columns(packed, size=size, ks=ks)
    found = []
    for table in tables:
        cells = read_cells(table, read)
        if table.mask is not None:
            cells = cells[read(table.mask) == 1]
        found.append(np.bincount(cells, minlength=table.cells).tolist())
    return found


def read_columns(packed: bytes, *, size: int, ks: Sequence[int]) -> ReadColumn:
    """Return a function that reads a column's codes; it decodes each column only once."""
    stored = split_columns(packed, size=size, ks=ks)

    @cache
    def read(column: int) -> NDArray[np.uint8]:
        return read_codes(stored[column], index=column, size=size, k=ks[column])

    return read


def read_cells(table: JointTable, read: ReadColumn) -> NDArray[np.uint16]:
    """Return each report's cell in a table, whether or not the person was asked."""
    cells = np.zeros(len(read(table.axes[0].column)), dtype=np.uint16)
    for axis in table.axes:
        cells *= np.uint16(axis.size)
        cells += np.array(axis.classes, dtype=np.uint16)[read(axis.column)]
    return cells


def _list_all(manifest: Manifest) -> Iterator[JointTable]:
    columns = Columns.of(manifest)
    places = dict(zip((each.name for each in manifest.symbols), columns.places, strict=True))
    masks = dict(zip((each.name for each in manifest.symbols), columns.masks, strict=True))
    symbols = {each.name: each for each in manifest.symbols}

    def axis(symbol: Symbol, classes: Sequence[int] = ()) -> Axis:
        own = tuple(classes or range(symbol.k))
        return Axis(symbol=symbol, column=places[symbol.name], classes=own)

    for question in manifest.questions:
        if not question.is_scrambled or not (question.rule or question.has_gate):
            continue
        parents = [
            axis(symbols[name], classes) for name, classes in _class_codes(question, symbols)
        ]
        own = [symbols[name] for name in question.answer_names]
        gate = [symbols[question.gate_name]] if question.has_gate else []
        if not parents and not gate:  # an empty rule reads nothing
            continue
        for symbol in own:
            yield JointTable(
                question=question,
                item=symbol.item,
                block=symbol.block,
                mask=masks[symbol.name],
                parents=tuple(parents),
                own=tuple(axis(each) for each in (*gate, symbol)),
            )


def _class_codes(
    question: ManifestQuestion, symbols: Mapping[str, Symbol]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """For each symbol that a rule reads, number the classes of codes that the rule distinguishes.

    The codes "refused" and "not asked" satisfy no condition, so they share the class of the answers
    that satisfy none.
    """
    conditions: dict[str, list[frozenset[int]]] = {}
    for leaf in leaves(question.rule or {}):
        conditions.setdefault(leaf["name"], []).append(frozenset(leaf["is"]))
    for name, wanted in conditions.items():
        kinds = [tuple(code in one for one in wanted) for code in range(symbols[name].k)]
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        yield name, tuple(numbers[kind] for kind in kinds)
