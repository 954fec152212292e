"""What every process imports at its start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.stack import ROOT

PROGRAM = """
import django, sys
django.setup()
import aggregator.tasks, config.urls
print(sorted({"scipy.stats", "vl_convert", "altair"} & sys.modules.keys()))
"""


def test_no_process_starts_with_what_takes_longer_than_all_else(tmp_path: Path) -> None:
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "MURMUR_VAR": str(tmp_path),
        },
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    assert printed == "[]\n"
