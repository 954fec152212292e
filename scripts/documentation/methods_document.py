"""Writes the computed tables and figures into docs/methods; `scripts/tables` calls it."""

from __future__ import annotations

import re

from scripts.documentation.methods_figures import picture_coverage, picture_watching, render
from scripts.documentation.methods_looks import (
    compute_contradictions,
    compute_ever_missed,
    simulate_ever_missed,
    write_contradiction_table,
    write_watched_table,
)
from scripts.documentation.methods_ratios import compute_tables, write_ratio_table
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

DOCS = ROOT / "docs"
# The file for each table.
CHAPTERS = {
    "coverage": "coverage",
    "ratios": "coverage",
    "shown": "coverage",
    "peeking": "peeking",
    "watched": "peeking",
    "contradictions": "peeking",
    "regression": "comparing",
}


def put_table(text: str, *, name: str, table: str) -> str:
    """Replace the text between a table's two marks."""
    begin, end = f"<!-- {name} table: begin -->", f"<!-- {name} table: end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"this chapter must have the marks of the {name} table")
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", text)


def main() -> None:
    runs = [simulate_watching(share) for share in SHARES]
    tables = {
        "coverage": write_coverage_table(compute_coverage()),
        "ratios": write_ratio_table(compute_tables()),
        "shown": write_shown_table(compute_shown()),
        "peeking": write_watching_table(runs),
        "watched": write_watched_table([compute_ever_missed(), *simulate_ever_missed()]),
        "contradictions": write_contradiction_table(compute_contradictions()),
        "regression": write_regression_table(
            [simulate_regression(**setting) for setting in REGRESSIONS]
        ),
    }
    for name, table in tables.items():
        path = DOCS / "methods" / f"{CHAPTERS[name]}.md"
        path.write_text(put_table(path.read_text("utf-8"), name=name, table=table), "utf-8")
        print(table)
    figures = DOCS / "figures"
    figures.mkdir(exist_ok=True)
    (figures / "coverage.svg").write_text(render(picture_coverage()), encoding="utf-8")
    (figures / "peeking.svg").write_text(render(picture_watching(runs[1])), encoding="utf-8")


if __name__ == "__main__":
    main()
