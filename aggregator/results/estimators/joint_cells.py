"""The true answers behind a joint table; some combinations of true answers cannot occur.

A question is asked if and only if its rule holds, and people who did not answer chose no item.
Codes that make no difference to an estimand are merged, so that there are few cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.joint_tables import Axis, JointTable
from aggregator.results.estimands import YES, Estimand
from aggregator.results.estimators.counted import SymbolCounts, TableCounts
from privacy.checks import Floats
from privacy.planning.answerers import ExpectedReports, assume_share
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.weights import fixed_weights
from privacy.shares.ratio_cells import RatioCells
from surveys.manifest.questions import ANSWERED, ManifestQuestion, Symbol
from surveys.manifest.rules import Rule, holds


@dataclass(frozen=True, kw_only=True)
class _TrueCell:
    """One combination of true answers, with a class on each axis and what it adds to the ratio."""

    classes: tuple[int, ...]
    numerator: float
    denominator: float
    is_asked: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentCells:
    """The reports in merged cells, and the true combinations that may have produced them."""

    counts: NDArray[np.int64]
    channel: Floats
    true: Sequence[_TrueCell]

    def for_likelihood(self) -> JointCells:
        return JointCells(
            counts=self.counts,
            channel=self.channel,
            event=np.array([cell.numerator == 1 for cell in self.true]),
            counted=np.array([cell.denominator == 1 for cell in self.true]),
        )

    def expect(self, *, share: float, counted: float) -> ExpectedReports:
        """Describe the reports to expect if `share` were the true share, or mean from 0 to 1."""
        return assume_share(
            channel=self.channel,
            numerator=[cell.numerator for cell in self.true],
            denominator=[cell.denominator for cell in self.true],
            counted=counted,
            share=share,
        )

    def for_ratio(self) -> RatioCells:
        """Weight the reports; the weights were fixed before any report arrived."""
        numerator, denominator = fixed_weights(
            channel=self.channel,
            numerator=[cell.numerator for cell in self.true],
            denominator=[cell.denominator for cell in self.true],
            asked=np.array([cell.is_asked for cell in self.true]),
        )
        return RatioCells(
            counts=self.counts.astype(np.float64), numerator=numerator, denominator=denominator
        )


def build_ratio_cells(found: TableCounts, estimand: Estimand) -> LatentCells:
    """Describe a share or mean of some of the people who were asked."""
    classes = [_class_own(axis, estimand) for axis in found.table.own]
    asked = list(_list_asked(estimand, classes))
    not_asked = _build_not_asked(estimand.question, classes)
    return _gather(found, classes, asked=asked, not_asked=not_asked)


def build_own_cells(counts: SymbolCounts, estimand: Estimand) -> LatentCells:
    """Describe a share or mean of some people from the question's own code alone."""
    kinds = (_find_kind(code, estimand) for code in range(counts.symbol.k))
    return LatentCells(
        counts=np.array(counts.cells, dtype=np.int64),
        channel=counts.symbol.mechanism.channel(),
        true=[
            _TrueCell(classes=(code,), numerator=own, denominator=among, is_asked=is_asked)
            for code, (is_asked, own, among) in enumerate(kinds)
        ],
    )


def build_asked_cells(found: TableCounts) -> LatentCells:
    """Describe the share of people for whom the rule holds, from the rule's symbols alone."""
    classes = [(0,) * axis.size for axis in found.table.own]
    nothing = (0,) * len(classes)
    return _gather(
        found,
        classes,
        asked=[_TrueCell(classes=nothing, numerator=1, denominator=1)],
        not_asked=_TrueCell(classes=nothing, numerator=0, denominator=1, is_asked=False),
    )


def count_who_may_be_asked(found: TableCounts) -> int:
    """Count the reports whose unscrambled answers can lead to the question."""
    table, rule = found.table, found.table.question.rule
    shape = tuple(axis.size for axis in table.parents)
    keeps = np.ones(shape, dtype=bool)
    for combination in np.ndindex(*shape):
        keeps[combination] = rule is None or not shape or _holds(rule, table, combination)
    scrambled = [
        place for place, axis in enumerate(table.parents) if axis.symbol.threshold is not None
    ]
    possible = keeps.any(axis=tuple(scrambled), keepdims=True)
    people = found.cells.sum(axis=tuple(range(len(shape), found.cells.ndim)))
    return int((people * possible).sum())


def _gather(
    found: TableCounts,
    own: Sequence[tuple[int, ...]],
    *,
    asked: Sequence[_TrueCell],
    not_asked: _TrueCell,
) -> LatentCells:
    parents = found.table.parents
    channels = [_build_channel(axis.symbol, axis.classes) for axis in parents]
    channels += [
        _build_channel(axis.symbol, classes)
        for axis, classes in zip(found.table.own, own, strict=True)
    ]
    counts: NDArray[np.int64] = found.cells
    for place, classes in enumerate(own, start=len(parents)):
        joined = np.eye(max(classes) + 1, dtype=np.int64)[:, list(classes)]
        counts = np.moveaxis(np.tensordot(joined, counts, axes=(1, place)), 0, place)
    true = list(_list_true(found.table, asked, not_asked))
    columns = []
    for cell in true:
        column: NDArray[Any] = np.ones(1)
        for channel, each in zip(channels, cell.classes, strict=True):
            column = np.kron(column, channel[:, each])
        columns.append(column)
    return LatentCells(counts=counts.ravel(), channel=np.array(columns).T, true=true)


def _build_channel(symbol: Symbol, classes: Sequence[int]) -> Floats:
    """Return the probability of each class of reported codes, given each class of true codes."""
    sizes = np.bincount(classes)
    if symbol.threshold is None:
        return np.eye(len(sizes))
    mechanism = symbol.mechanism
    other: Floats = np.outer(sizes * mechanism.other_probability, np.ones(len(sizes)))
    return other + mechanism.slope * np.eye(len(sizes))


def _list_true(
    table: JointTable, asked: Sequence[_TrueCell], not_asked: _TrueCell
) -> Iterator[_TrueCell]:
    """List the possible true cells, where people are asked if and only if the rule holds."""
    rule = table.question.rule
    for combination in product(*(range(axis.size) for axis in table.parents)):
        if rule is None or (table.parents and _holds(rule, table, combination)):
            cells = [*asked]
        elif table.parents:
            cells = [not_asked]
        else:  # the table does not say for whom the rule holds
            cells = [*asked, not_asked]
        for cell in cells:
            yield replace(cell, classes=(*combination, *cell.classes))


def _holds(rule: Rule, table: JointTable, combination: Sequence[int]) -> bool:
    return holds(
        rule,
        {
            axis.symbol.name: axis.classes.index(each)
            for axis, each in zip(table.parents, combination, strict=True)
        },
    )


def _class_own(axis: Axis, estimand: Estimand) -> tuple[int, ...]:
    """Number the classes of codes that make a difference to an estimand."""
    if axis.symbol.item is not None and estimand.symbol != axis.symbol.name:
        return (0,) * axis.size  # an item says nothing about who refused
    if estimand.gate:
        return tuple(range(axis.size))
    kinds = [_find_kind(code, estimand) for code in range(axis.size)]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    return tuple(numbers[kind] for kind in kinds)


def _find_kind(code: int, estimand: Estimand) -> tuple[bool, float, float]:
    """Return whether a code means "asked", and what it adds to the numerator and denominator."""
    if code == estimand.question.not_asked_code:
        return False, 0.0, 0.0
    question = estimand.question
    if estimand.is_scale_mean:
        is_point = code < question.answers
        return True, code / (question.answers - 1) if is_point else 0.0, float(is_point)
    counted = estimand.among is None or code in estimand.among
    return True, float(code in estimand.event), float(counted)


def _list_asked(estimand: Estimand, classes: Sequence[tuple[int, ...]]) -> Iterator[_TrueCell]:
    """List the true answers of those who were asked."""
    if estimand.gate:
        for chosen in (0, YES):
            yield _TrueCell(classes=(ANSWERED, chosen), numerator=chosen, denominator=1)
        refused = estimand.question.refused_code
        if refused is not None:
            yield _TrueCell(classes=(refused, 0), numerator=0, denominator=0)
        return
    own = classes[0]
    for each in sorted(set(own)):
        is_asked, numerator, denominator = _find_kind(own.index(each), estimand)
        if is_asked:
            yield _TrueCell(
                classes=(each, *(0 for _ in classes[1:])),
                numerator=numerator,
                denominator=denominator,
            )


def _build_not_asked(question: ManifestQuestion, classes: Sequence[tuple[int, ...]]) -> _TrueCell:
    code = question.not_asked_code
    first = 0 if code is None else classes[0][code]
    return _TrueCell(
        classes=(first, *(0 for _ in classes[1:])), numerator=0, denominator=0, is_asked=False
    )
