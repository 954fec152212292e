"""Settings that are lists have no entry twice."""

from __future__ import annotations

import pytest
from django.conf import settings

LISTS = [name for name in dir(settings) if isinstance(getattr(settings, name), list | tuple)]


@pytest.mark.parametrize("name", LISTS)
def test_no_entry_of_a_list_stands_twice(name: str) -> None:
    entries = [repr(entry) for entry in getattr(settings, name)]
    assert len(entries) == len(set(entries)), entries


def test_the_lists_of_config_are_among_them() -> None:
    assert {"MIDDLEWARE", "INSTALLED_APPS", "LANGUAGES"} <= set(LISTS)
