"""What the reports show: all that estimates are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import JointTable, list_tables
from aggregator.results.equations import count_people_behind
from aggregator.results.estimands import Estimand
from aggregator.results.small_groups import may_tell_classes
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.rules import holds, leaves

Counts = Sequence[Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class SymbolCounts:
    """How many reports show each code of a symbol, among those in which it was asked."""

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
    """How many reports are in each cell of a joint table."""

    table: JointTable
    cells: NDArray[np.int64]

    def without_parents(self) -> TableCounts:
        """Return the question's own codes alone."""
        parents = tuple(range(len(self.table.parents)))
        own = replace(self.table, parents=())
        return TableCounts(table=own, cells=self.cells.sum(axis=parents))


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """The counts as of the looks of a wave, and what may be said about them.

    `is_final` says that the wave is closed and everything is counted; `fixed_end`, that it ended as
    frozen, so that intervals for one look are valid. `broken_down_by` names the declared question
    if these are the counts of one of its groups, or of all its other groups.
    """

    manifest: Manifest
    symbols: Mapping[str, SymbolCounts]
    tables: Sequence[TableCounts]
    fixed_end: bool
    is_final: bool
    broken_down_by: str = ""

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        counts: Counts,
        tables: Counts,
        *,
        fixed_end: bool,
        is_final: bool,
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
            fixed_end=fixed_end,
            is_final=is_final,
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
                # An item needs its gate even without the rule.
                return found.without_parents() if estimand.gate else None
        return None

    def find_parents(self, question: ManifestQuestion) -> TableCounts | None:
        """Find a table with all that the question's rule reads."""
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
        """Whether a table may be used: while people watch, and in small groups, nothing depends on
        an answer that is sent as it is, nor on several that few people gave together. Each
        combination of these needs ten people for each equation that all tables give about it.
        """
        axes = found.table.axes
        others = tuple(
            place for place, axis in enumerate(axes) if axis.symbol.threshold is not None
        )
        if len(others) == len(axes):
            return True
        together = found.cells.sum(axis=others)
        needed = count_people_behind(
            self.manifest, found.table, (other.table for other in self.tables)
        )
        return (
            self.fixed_end
            and not ((together > 0) & (together < needed)).any()
            and all(
                self._may_tell(axis.symbol.name, axis.classes)
                for axis in axes
                if axis.symbol.threshold is None
            )
        )

    def may_tell(self, event: Event) -> bool:
        """Whether the share of an answer that is sent as it is may be shown."""
        classes = [int(code in event.codes) for code in range(self.symbols[event.symbol].symbol.k)]
        return event.symbol not in self.scrambled and self._may_tell(event.symbol, classes)

    def _may_tell(self, symbol: str, classes: Sequence[int]) -> bool:
        cells, minimum = self.symbols[symbol].cells, self.manifest.crowd
        if self.broken_down_by:
            if symbol != self.broken_down_by:
                return False  # it would cross two declared questions
            if sum(count > 0 for count in cells) == 1:
                return self.is_final  # everybody here is known to be in this group
        return self.is_final and may_tell_classes(cells, classes, minimum=minimum)

    def _list_tables(self, question: ManifestQuestion) -> list[TableCounts]:
        return [found for found in self.tables if found.table.question.name == question.name]
