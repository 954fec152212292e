"""docs/operations.md lists every event of the audit log, and no other event.

Accounts name their events in the code. The events of surveys are in one table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.stack.stack import ROOT
from surveys.history.recording import DOWNLOAD, LOGGED

PACKAGES = ("config", "accounts", "surveys", "aggregator")
# Each function that names an event, with the position of the argument that contains the name.
RECORDERS = {"audit.record": 0, "_tell": 2, "record": 0, "_record_on": 1}
HOME = ROOT / "accounts" / "audit.py"


def recorded_by(path: Path) -> Iterator[str]:
    """Yield the events that a module can record; a variable stands for the value assigned to it."""
    tree = ast.parse(path.read_text())
    assigned = {
        ast.unparse(node.targets[0]): node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            if function in RECORDERS and (function in ("audit.record", "_tell") or path == HOME):
                event = node.args[RECORDERS[function]]
                yield from events_in(assigned.get(ast.unparse(event), event))


def events_in(event: ast.expr) -> Iterator[str]:
    if isinstance(event, ast.IfExp):
        yield from events_in(event.body)
        yield from events_in(event.orelse)
    elif isinstance(event, ast.Constant):
        yield str(event.value)
    else:  # the parameter of the function that connects signals
        assert ast.unparse(event) == "event", ast.unparse(event)


def test_the_table_of_events_is_complete_and_lists_nothing_else() -> None:
    recorded = {
        event
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for event in recorded_by(path)
    }
    recorded |= {DOWNLOAD, *LOGGED.values()}
    operations = (ROOT / "docs" / "operations.md").read_text()
    table = operations.partition("| event | when |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    listed = [event for cell in cells for event in re.findall(r"`([a-z-]+)`", cell)]
    assert len(listed) == len(set(listed)) > 10
    assert set(listed) == recorded
