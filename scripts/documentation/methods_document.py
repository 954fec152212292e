"""Writes the computed tables and figures into docs/methods; `scripts/tables` calls it.

`scripts/tables NAME …` computes only the tables with these names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from scripts.documentation.methods_claims import compute_rows, write_claims_table
from scripts.documentation.methods_figures import picture_coverage, picture_watching, render
from scripts.documentation.methods_looks import (
    compute_contradictions,
    compute_ever_missed,
    simulate_ever_missed,
    write_contradiction_table,
    write_watched_table,
)
from scripts.documentation.methods_ratios import compute_tables, write_ratio_table
from scripts.documentation.methods_releases import (
    compute_people,
    write_people,
    write_release_table,
)
from scripts.documentation.methods_shown import compute_shown, write_shown_table
from scripts.documentation.methods_tables import (
    REGRESSIONS,
    SHARES,
    compute_coverage,
    simulate_regression,
    simulate_watching,
    write_coverage_table,
    write_regression_table,
    write_watching_table,
)
from scripts.stack.stack import ROOT
from surveys.planning.release_table import PEOPLE_FILE

DOCS = ROOT / "docs"
# The file for each table.
CHAPTERS = {
    "coverage": "coverage",
    "ratios": "coverage",
    "shown": "coverage",
    "peeking": "peeking",
    "watched": "peeking",
    "contradictions": "peeking",
    "claims": "peeking",
    "regression": "comparing",
    "releases": "planning",
}
FIGURES = DOCS / "figures"


def put_table(text: str, *, name: str, table: str) -> str:
    """Replace the text between a table's two marks."""
    begin, end = f"<!-- {name} table: begin -->", f"<!-- {name} table: end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"this chapter must have the marks of the {name} table")
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", text)


def _write_peeking() -> str:
    runs = [simulate_watching(share) for share in SHARES]
    (FIGURES / "peeking.svg").write_text(render(picture_watching(runs[1])), encoding="utf-8")
    return write_watching_table(runs)


def _write_coverage() -> str:
    (FIGURES / "coverage.svg").write_text(render(picture_coverage()), encoding="utf-8")
    return write_coverage_table(compute_coverage())


def _write_releases() -> str:
    people = compute_people()
    PEOPLE_FILE.write_text(write_people(people), encoding="utf-8")
    return write_release_table(people)


TABLES: dict[str, Callable[[], str]] = {
    "coverage": _write_coverage,
    "ratios": lambda: write_ratio_table(compute_tables()),
    "shown": lambda: write_shown_table(compute_shown()),
    "peeking": _write_peeking,
    "watched": lambda: write_watched_table([compute_ever_missed(), *simulate_ever_missed()]),
    "contradictions": lambda: write_contradiction_table(compute_contradictions()),
    "claims": lambda: write_claims_table(compute_rows()),
    "regression": lambda: write_regression_table(
        [simulate_regression(**setting) for setting in REGRESSIONS]
    ),
    "releases": _write_releases,
}


def main() -> None:
    FIGURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or TABLES:
        table = TABLES[name]()
        path = DOCS / "methods" / f"{CHAPTERS[name]}.md"
        path.write_text(put_table(path.read_text("utf-8"), name=name, table=table), "utf-8")
        print(table)


if __name__ == "__main__":
    main()
