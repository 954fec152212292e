"""The modules that every process imports when it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.stack.stack import ROOT

PROGRAM = """
import django, sys
django.setup()
import aggregator.tasks, config.urls
print(sorted({"scipy.stats", "vl_convert", "altair"} & sys.modules.keys()))
"""


WEB = """
import gc, config.asgi
print(gc.get_freeze_count() > 10 * len(gc.get_objects()))
"""


def run(program: str, var: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "MURMUR_VAR": str(var)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


@pytest.mark.slow
def test_a_web_process_never_garbage_collects_what_it_loaded(tmp_path: Path) -> None:
    """A full collection would stop all uploads for a tenth of a second."""
    assert run(WEB, tmp_path) == "True\n"


@pytest.mark.slow
def test_no_process_imports_the_slowest_modules_when_it_starts(tmp_path: Path) -> None:
    assert run(PROGRAM, tmp_path) == "[]\n"
