"""Real processes on free ports, started for a test and stopped after it by their own ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.stack.world import World, make_world


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    url = ""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create_database()
    made = make_world(var=tmp_path, database_url=url)
    try:
        made.begin()
        yield made
    finally:
        made.stack.stop()
