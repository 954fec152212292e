"""The modules that every process imports when it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from scripts.stack.stack import ROOT

PROGRAM = """
import django, sys
django.setup()
import aggregator.tasks, config.urls
print(sorted({"scipy.stats", "typst", "docx"} & sys.modules.keys()))
"""


WEB = """
import gc, config.asgi
print(gc.get_freeze_count() > 10 * len(gc.get_objects()))
"""


UMASK = """
import os, config.{module}
print(oct(os.umask(0)))
"""


FOLDER = "import config.settings; print(config.settings.RELEASES)"


def run(program: str, var: Path) -> str:
    return python("-c", program, var=var)


def python(*arguments: str, var: Path) -> str:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        umask=0o022,  # as on most machines
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "MURMUR_VAR": str(var)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def test_a_command_makes_files_that_only_their_owner_can_read(tmp_path: Path) -> None:
    var = tmp_path / "var"
    python("manage.py", "migrate", "--verbosity", "0", var=var)
    made = [var, *var.rglob("*")]
    assert {"secret_key", "murmur.sqlite3"} <= {path.name for path in made}
    assert [path for path in made if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("module", ["asgi", "celery"])
def test_every_process_writes_files_for_its_owner_only(module: str, tmp_path: Path) -> None:
    assert run(UMASK.format(module=module), tmp_path) == "0o77\n"


def test_a_web_process_never_garbage_collects_what_it_loaded(tmp_path: Path) -> None:
    """A full collection would stop all uploads for a tenth of a second."""
    assert run(WEB, tmp_path) == "True\n"


def test_no_process_imports_the_slowest_modules_when_it_starts(tmp_path: Path) -> None:
    assert run(PROGRAM, tmp_path) == "[]\n"


def test_workers_draw_releases_with_their_own_database_or_where_an_operator_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "MURMUR_RELEASES"):
        monkeypatch.delenv(name, raising=False)
    assert run(FOLDER, tmp_path).strip() == str(tmp_path / "releases")
    monkeypatch.setenv("DATABASE_URL", "postgresql://murmur@127.0.0.1/murmur")
    assert run(FOLDER, tmp_path).strip() == "None"
    monkeypatch.setenv("MURMUR_RELEASES", "/srv/releases")
    assert run(FOLDER, tmp_path).strip() == "/srv/releases"


LISTS = [name for name in dir(settings) if isinstance(getattr(settings, name), list | tuple)]


@pytest.mark.parametrize("name", LISTS)
def test_no_entry_of_a_list_of_settings_stands_twice(name: str) -> None:
    entries = [repr(entry) for entry in getattr(settings, name)]
    assert len(entries) == len(set(entries)), entries


def test_the_lists_of_settings_were_found() -> None:
    assert {"MIDDLEWARE", "INSTALLED_APPS", "LANGUAGES"} <= set(LISTS)
