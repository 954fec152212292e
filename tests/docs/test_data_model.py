"""docs/data-model.md names every table."""

from __future__ import annotations

import re

from django.apps import apps

from scripts.stack.stack import ROOT

DATA_MODEL = (ROOT / "docs" / "data-model.md").read_text()


def is_named(table: str, text: str) -> bool:
    """Return whether a document names a table in full, or by the beginning of its name and “…”."""
    names = re.findall(r"`([a-z_]+)(…?)`", text)
    return any(table.startswith(name) if more else table == name for name, more in names)


def test_every_table_is_named() -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    assert len(tables) > 20
    # These tables would hold the rights of an account, but Murmur gives none.
    without_rows = {"accounts_user_groups", "accounts_user_user_permissions"}
    assert {table for table in tables - without_rows if not is_named(table, DATA_MODEL)} == set()


def test_names_and_beginnings_of_names_are_seen() -> None:
    text = "`surveys_wave` and `axes_…`"
    named = {"surveys_wave": True, "axes_accesslog": True, "surveys_wave_2": False, "other": False}
    assert {table: is_named(table, text) for table in named} == named
