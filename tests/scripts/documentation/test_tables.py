"""The tables of the methods match the code and support the claims in the text."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from scripts.documentation import methods_looks, methods_ratios, methods_shown
from scripts.documentation.methods_ratios import Cell
from scripts.documentation.ratio_designs import (
    Design,
    follow_up,
    gated_item,
    refusable_follow_up,
)
from scripts.stack.stack import ROOT

TEXT = "".join(path.read_text("utf-8") for path in (ROOT / "docs" / "methods").glob("*.md"))


def rows_of(name: str) -> list[list[str]]:
    table = re.search(f"<!-- {name} table: begin -->(.*?)<!-- {name} table: end -->", TEXT, re.S)
    assert table is not None
    lines = [line for line in table[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def numbers_of(cells: list[str]) -> list[float]:
    found = [re.match(r"\d*\.\d+", cell) for cell in cells]
    return [float(number[0]) for number in found if number]


def test_no_kind_of_ratio_covers_too_rarely() -> None:
    rows = rows_of("ratios")
    assert [row[0] for row in rows[:-1]] == list(methods_ratios.ROWS)
    assert all(row[-1] == "0" for row in rows)
    assert int(rows[-1][1]) == methods_ratios.RANDOM_CELLS
    # The grid has 2,475 cells.
    assert sum(int(row[1]) for row in rows[:-1]) > 2400


def test_what_is_shown_covers_as_often() -> None:
    for row in rows_of("shown"):
        covered = [float(row[place]) for place in (4, 6) if row[place] != "–"]
        # If only 100 surveys of a row show a figure, the standard error is .022.
        shown = [float(row[place].rstrip("%")) / 100 for place in (3, 5) if row[place + 1] != "–"]
        for coverage, part in zip(covered, shown, strict=True):
            error = np.sqrt(0.95 * 0.05 / (part * methods_ratios.RUNS))
            assert coverage > methods_ratios.LEAST - 4.9 * error


@pytest.mark.parametrize("name", ["watched", "contradictions"])
def test_nothing_is_missed_or_contradicted_in_more_than_1_of_20_surveys(name: str) -> None:
    figures = {row[0]: numbers_of(row[1:]) for row in rows_of(name)}
    assert sum(map(len, figures.values())) >= 10
    error = np.sqrt(0.055 * 0.945 / methods_looks.AGAIN)
    for figure, missed in figures.items():
        is_exact = name == "contradictions" or figure == "share"
        assert max(missed) <= (0.05 if is_exact else 0.055 + 4.9 * error)


def test_the_table_of_contradictions_is_what_the_code_computes() -> None:
    found = methods_looks.compute_contradictions()
    assert methods_looks.write_contradiction_table(found) in TEXT


# These cells of the grid have the lowest coverage, or are neighbours of those that have it.
@pytest.mark.parametrize(
    ("design", "truth", "total", "share"),
    [
        (follow_up(answers=16, epsilon=2.0), [0.5, 0.5, 0.0], 50, 0.5),
        (follow_up(answers=2, epsilon=2.0), [0.06, 0.24, 0.7], 50, 0.2),
        (refusable_follow_up(answers=2, epsilon=2.0), [0.135, 0.135, 0.03, 0.7], 50, 0.5),
        (gated_item(epsilon=1.0986), [0.5, 0.5, 0.0, 0.0], 50, 0.5),
        (gated_item(epsilon=1.0986), [0.0, 1.0, 0.0, 0.0], 200, 0.0),
    ],
)
def test_a_cell_of_the_grid_covers(
    design: Design, truth: list[float], total: int, share: float
) -> None:
    generator = np.random.default_rng(3)
    cell = methods_ratios.simulate(generator, design, truth=truth, total=total, share=share)
    assert not cell.fails, cell


def test_means_cover_where_nearly_nobody_is_asked_and_where_all_are() -> None:
    generator = methods_ratios.seeded("mean behind a rule, with its parent")
    cells = list(islice(methods_ratios.cover_mean(generator, is_routed=True), 15))
    assert not any(cell.fails for cell in cells), cells


def test_a_cell_fails_by_more_than_chance() -> None:
    # The first coverage is 4.8 standard errors of .0040 below .93, and the second is 5.2 below.
    assert not Cell(epsilon=1.0, coverage=0.9105).fails
    assert Cell(epsilon=1.0, coverage=0.909).fails
    assert Cell(epsilon=1.0, coverage=0.9299, runs=0).fails


def test_the_table_of_ratios_has_its_head_and_a_row_for_every_figure() -> None:
    cell = Cell(epsilon=1.0, coverage=0.95)
    written = methods_ratios.write_ratio_table(methods_ratios.Tables(rows=[], random=[cell]))
    head, line, random_cells = written.splitlines()
    assert f"{head}\n{line}\n" in TEXT
    name = random_cells.strip("| ").split(" | ")[0]
    assert [row[0] for row in rows_of("ratios")] == [*methods_ratios.ROWS, name]


# The tests below recompute part of each table; scripts/tables computes all of it.
@pytest.mark.long
@pytest.mark.parametrize("name", ["mean among those who answered"])
def test_a_row_of_ratios_is_what_the_code_computes(name: str) -> None:
    assert f"\n{methods_ratios.write_row(methods_ratios.compute_row(name))}\n" in TEXT


@pytest.mark.long
def test_the_row_of_random_cells_is_what_the_code_computes() -> None:
    cells = methods_ratios.compute_random_cells()
    assert f"\n{methods_ratios.write_random_cells(cells)}\n" in TEXT


@pytest.mark.long
def test_the_table_of_what_is_shown_is_what_the_code_computes() -> None:
    rows = list(islice(methods_shown.compute_shown(), 2))  # where a tenth of people are asked
    assert methods_shown.write_shown_table(rows) in TEXT


@pytest.mark.long
def test_the_table_of_what_is_ever_missed_is_what_the_code_computes() -> None:
    few = methods_looks.EXPECTED[:1]
    rows = [methods_looks.compute_ever_missed(few), *methods_looks.simulate_ever_missed(few)]
    for line in methods_looks.write_watched_table(rows).splitlines()[2:]:
        assert f"\n{line} " in TEXT
