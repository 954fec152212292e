"""The counts of reports from which all estimates are computed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import JointTable, list_tables
from aggregator.results.estimands import Estimand
from aggregator.results.groups.equations import Condition, find_condition, list_conditions
from aggregator.results.groups.small_groups import may_tell_classes
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.rules import holds, leaves

Counts = Sequence[Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class SymbolCounts:
    """The number of reports with each code of a symbol, among reports in which it was asked."""

    symbol: Symbol
    cells: Sequence[int]

    @property
    def total(self) -> int:
        return sum(self.cells)

    def count(self, codes: Sequence[int]) -> int:
        return sum(self.cells[code] for code in codes)


@dataclass(frozen=True, kw_only=True)
class Event:
    """Some codes of one symbol."""

    symbol: str
    codes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class TableCounts:
    """The number of reports in each cell of a joint table."""

    table: JointTable
    cells: NDArray[np.int64]

    def without_parents(self) -> TableCounts:
        """Return the table of the question's own codes."""
        parents = tuple(range(len(self.table.parents)))
        own = replace(self.table, parents=())
        return TableCounts(table=own, cells=self.cells.sum(axis=parents))


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """The counts as of a wave's looks, and which figures may use them.

    `told` names the declared questions whose group sizes are shown; before the close, it is empty.
    `broken_down_by` names the declared question if these are the counts of one of its groups, or of
    all its groups but one.
    """

    manifest: Manifest
    symbols: Mapping[str, SymbolCounts]
    tables: Sequence[TableCounts]
    told: Collection[str]
    broken_down_by: str = ""

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        counts: Counts,
        tables: Counts,
        *,
        told: Collection[str],
        broken_down_by: str = "",
    ) -> Counted:
        cells = Columns.of(manifest).read_counts(counts)
        return cls(
            manifest=manifest,
            symbols={
                symbol.name: SymbolCounts(symbol=symbol, cells=own)
                for symbol, own in zip(manifest.symbols, cells, strict=True)
            },
            tables=[
                TableCounts(table=table, cells=np.array(own, dtype=np.int64).reshape(table.shape))
                for table, own in zip(list_tables(manifest), tables, strict=True)
            ],
            told=told,
            broken_down_by=broken_down_by,
        )

    @cached_property
    def scrambled(self) -> dict[str, SymbolCounts]:
        return {
            name: each for name, each in self.symbols.items() if each.symbol.threshold is not None
        }

    def find_table(self, estimand: Estimand) -> TableCounts | None:
        """Find the joint table that an estimand may be estimated from."""
        for found in self._list_tables(estimand.question):
            if estimand.symbol in (axis.symbol.name for axis in found.table.own):
                if self.may_use(found):
                    return found
                # An item still needs the table with its gate, but not the symbols of the rule.
                return found.without_parents() if estimand.gate else None
        return None

    def find_parents(self, question: ManifestQuestion) -> TableCounts | None:
        """Find a joint table with all symbols that the question's rule reads."""
        return next((found for found in self._list_tables(question) if found.table.parents), None)

    def find_event(self, question: ManifestQuestion) -> Event | None:
        """Find the codes for which a question is asked, if its rule reads one symbol."""
        names = {leaf["name"] for leaf in leaves(question.rule or {})}
        if question.rule is None or len(names) != 1:
            return None
        (name,) = names
        codes = range(self.symbols[name].symbol.k)
        return Event(
            symbol=name, codes=tuple(code for code in codes if holds(question.rule, {name: code}))
        )

    def may_use(self, found: TableCounts) -> bool:
        """Return whether figures may use a table.

        Before the close, and in small groups, no figure depends on an answer that is sent as it is
        (`equations.find_condition`).
        """
        if not list_conditions(found.table):
            return True
        condition = find_condition(
            self.manifest, (other.table for other in self.tables), mask=found.table.mask
        )
        if condition is None:
            return False
        sizes = self._count_classes(condition, found)
        return not ((sizes > 0) & (sizes < condition.needed)).any() and self._may_tell(
            condition.symbol, condition.classes
        )

    def _count_classes(self, condition: Condition, found: TableCounts) -> NDArray[np.int64]:
        """Count the people of each class among those who were asked the table's question."""
        if found.table.mask is None:
            cells = self.symbols[condition.symbol].cells
            return np.bincount(condition.classes, weights=cells).astype(np.int64)
        scrambled = (axis.symbol.threshold is not None for axis in found.table.axes)
        places = tuple(place for place, own in enumerate(scrambled) if own)
        counts: NDArray[np.int64] = found.cells.sum(axis=places)
        return counts

    def may_tell(self, event: Event) -> bool:
        """Return whether the share of an answer that is sent as it is may be shown."""
        classes = [int(code in event.codes) for code in range(self.symbols[event.symbol].symbol.k)]
        return event.symbol not in self.scrambled and self._may_tell(event.symbol, classes)

    def _may_tell(self, symbol: str, classes: Sequence[int]) -> bool:
        cells, minimum = self.symbols[symbol].cells, self.manifest.crowd
        if self.broken_down_by:
            if symbol != self.broken_down_by:
                return False  # the figure would cross two declared questions
            if sum(count > 0 for count in cells) == 1:
                return symbol in self.told  # everybody here is known to be in this group
        return symbol in self.told and may_tell_classes(cells, classes, minimum=minimum)

    def _list_tables(self, question: ManifestQuestion) -> list[TableCounts]:
        return [found for found in self.tables if found.table.question.name == question.name]
