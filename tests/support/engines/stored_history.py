"""Reads the history that a browser stores in its profile."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

FILES = {"chromium": "Default/History", "firefox": "places.sqlite"}
READ = {
    "chromium": "SELECT urls.url, title, count(*) FROM urls JOIN visits ON visits.url = urls.id",
    "firefox": "SELECT url, title, count(*) FROM moz_places p JOIN moz_historyvisits v"
    " ON place_id = p.id",
}


def read_stored_history(engine: str, profile: Path) -> dict[str, tuple[str, int]]:
    """Return the title and the number of visits of each address. Close the browser first."""
    copy = profile / "copy"
    for ending in ("", "-wal"):
        file = profile / f"{FILES[engine]}{ending}"
        if file.exists():
            shutil.copy(file, f"{copy}{ending}")
    with sqlite3.connect(copy) as connection:
        rows = connection.execute(f"{READ[engine]} GROUP BY 1, 2").fetchall()
    return {url: (title or "", visits) for url, title, visits in rows}
