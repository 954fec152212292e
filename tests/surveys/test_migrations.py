"""Migrations of a SQLite file forwards and backwards: launched waves stay frozen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

STEPS = ["0005", "0004", "0003", "0002", "0001", "0002", "0003", "0004", "0005"]
# All steps run in one new process, because starting one takes longer than most steps.
SCRIPT = """
from django.core.management import call_command
from django.db import connection
for step in {steps}:
    call_command("migrate", "surveys", step, verbosity=0, reverse=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'surveys_wave_frozen'")
        print(step, *(sql for sql, in cursor.fetchall()))
call_command("migrate", verbosity=0)
"""


@pytest.mark.slow
def test_waves_stay_frozen_while_migrations_are_reversed_and_reapplied(tmp_path: Path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", SCRIPT.format(steps=STEPS)],
        cwd=settings.BASE_DIR,
        env={
            **environment,
            "MURMUR_VAR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [
        (line[:4], re.findall(r"OLD\.(cap|mode|words)", line)) for line in done.stdout.splitlines()
    ]
    expected = {
        "0001": [],
        "0002": ["cap"],
        "0003": ["cap"],
        "0004": ["cap", "mode"],
        "0005": ["cap", "mode", "words"],
    }
    assert found == [(step, expected[step]) for step in STEPS]
