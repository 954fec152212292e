"""Tables of codes that rules and gates tie together, checked by counting report by report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import (
    MOST_CLASSES,
    JointTable,
    count_tables,
    find_too_large,
    list_tables,
)
from aggregator.batches.packing import count_codes, pack_reports
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.rules import holds
from tests.aggregator.routed import KIND, ROUTED, SUBSET, ask, draw_reports, yes
from tests.support.manifests import make_manifest


def count(manifest: Manifest, reports: Sequence[bytes]) -> list[list[int]]:
    ks = Columns.of(manifest).ks
    packed = pack_reports(Columns.of(manifest).write_columns(reports), ks=ks)
    return count_tables(packed, size=len(reports), ks=ks, tables=list_tables(manifest))


def name(table: JointTable) -> str:
    return table.own[-1].symbol.name


def test_a_table_holds_what_the_rule_reads_then_the_gate_and_the_symbol() -> None:
    found = {
        name(table): [(axis.symbol.name, axis.classes) for axis in table.axes]
        for table in list_tables(ROUTED)
    }
    asked, gate = (0, 1, 2), (0, 1, 2)
    assert found == {
        # The codes of q1 are No, Yes and refused; only Yes leads to q2.
        "q2": [("q1", (0, 1, 0)), ("q2", (0, 1, 2, 3, 4))],
        # The last code of q2 means "not asked".
        **{
            f"q3_{item}": [("q2", (0, 1, 1, 0, 1)), ("q3_gate", gate), (f"q3_{item}", (0, 1))]
            for item in (1, 2, 3)
        },
        "q5": [("q3_2", (0, 1)), ("q4", (0, 0, 1)), ("q5", (0, 1, 2, 3))],
        **{f"q6_{item}": [("q6_gate", (0, 1)), (f"q6_{item}", (0, 1))] for item in (1, 2)},
        # Two conditions on one answer distinguish three classes.
        "q7": [("q6_1", (0, 1)), ("q5", (0, 1, 2, 0)), ("q4", (0, 0, 1)), ("q7", asked)],
        "q9": [("q8", (0, 1)), ("q9", (0, 1, 2, 3))],
    }


@pytest.mark.parametrize("manifest", [ROUTED, SUBSET], ids=["everyone", "subset"])
def test_each_cell_counts_the_reports_that_show_its_codes(manifest: Manifest) -> None:
    reports = draw_reports(manifest)
    places = {symbol.name: place for place, symbol in enumerate(manifest.symbols)}
    for table, cells in zip(list_tables(manifest), count(manifest, reports), strict=True):
        expected: Counter[tuple[int, ...]] = Counter()
        for report in reports:
            codes = [report[places[axis.symbol.name]] for axis in table.axes]
            if codes[-1] != NOT_DRAWN:
                expected[
                    tuple(axis.classes[code] for axis, code in zip(table.axes, codes, strict=True))
                ] += 1
        assert cells == [expected[cell] for cell in product(*map(range, table.shape))]


@pytest.mark.parametrize("manifest", [ROUTED, SUBSET], ids=["everyone", "subset"])
def test_a_table_summed_over_the_rest_gives_the_counts_of_its_symbol(manifest: Manifest) -> None:
    reports, columns = draw_reports(manifest), Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    counts = columns.read_counts(count_codes(packed, size=len(reports), ks=columns.ks))
    by_name = dict(zip((symbol.name for symbol in manifest.symbols), counts, strict=True))
    for table, cells in zip(list_tables(manifest), count(manifest, reports), strict=True):
        last = table.shape[-1]
        assert [sum(cells[code::last]) for code in range(last)] == by_name[name(table)]


def test_a_class_decides_whether_the_rule_holds() -> None:
    for table in list_tables(ROUTED):
        if table.question.rule is None:
            continue
        outcomes: dict[tuple[int, ...], set[bool]] = {}
        for codes in product(*(range(len(axis.classes)) for axis in table.parents)):
            classes = tuple(
                axis.classes[code] for axis, code in zip(table.parents, codes, strict=True)
            )
            said = dict(zip((axis.symbol.name for axis in table.parents), codes, strict=True))
            outcomes.setdefault(classes, set()).add(holds(table.question.rule, said))
        assert all(len(each) == 1 for each in outcomes.values())


def test_a_table_that_is_too_large_is_named_and_not_counted() -> None:
    def chosen(options: int) -> Manifest:
        """Make three parents with one class for each option, and a child with two more codes."""
        return make_manifest(
            *(ask(f"q{number}", KIND.CHOICE, options) for number in (1, 2, 3)),
            ask(
                "q4",
                KIND.YES_NO,
                rule={
                    "any": [
                        yes(f"q{number}", code)
                        for number in (1, 2, 3)
                        for code in range(options - 1)
                    ]
                },
            ),
            ask("q5", KIND.YES_NO, rule=yes("q1")),
        )

    small, large = chosen(3), chosen(4)
    assert [table.cells for table in list_tables(small)] == [3**3 * 3, 6]
    assert find_too_large(small) == frozenset()
    assert 3**3 <= MOST_CLASSES < 4**3
    assert [name(table) for table in list_tables(large)] == ["q5"]
    assert find_too_large(large) == {"q4"}
    reports = draw_reports(large, size=50)
    assert [sum(cells) for cells in count(large, reports)] == [50]


def test_codes_that_cannot_be_sent_are_refused() -> None:
    ks, tables = Columns.of(ROUTED).ks, list_tables(ROUTED)
    packed = pack_reports([bytes([0, 4, *[0] * (len(ks) - 2)])], ks=ks)
    with pytest.raises(ValueError, match="codes below 5 in column 1, got 9"):
        count_tables(packed.replace(b"\4", b"\11"), size=1, ks=ks, tables=tables)
    assert count_tables(packed[:-1], size=1, ks=ks, tables=[]) == []
    with pytest.raises(ValueError, match="packed must contain"):
        count_tables(packed[:-1], size=1, ks=ks, tables=tables)
