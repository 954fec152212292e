"""Fixtures and markers for all tests, and static files as the product serves them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import pytest
import zopfli.gzip
from django.conf import settings as django_settings
from django.core.cache import cache
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import settings

from scripts.stack.prepared import copy_empty_database, copy_static_files
from tests.support import markers
from tests.support.servers import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]

# Every run uses the same examples, so a failure means a fault rather than bad luck. There is no
# deadline, so a slow machine causes no failure. To search for new examples:
# HYPOTHESIS_PROFILE=search scripts/test tests/privacy
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_configure() -> None:
    markers.watch_programs()


def pytest_itemcollected(item: pytest.Item) -> None:
    markers.add_markers(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    markers.note_running(item)
    try:
        return (yield)
    finally:
        markers.note_running(None)


@pytest.fixture(autouse=True)
def forgetful_cache() -> Iterator[None]:
    """Clear the cache: failed attempts to sign in must not cause a lockout in the next test."""
    yield
    cache.clear()


@pytest.fixture(scope="session", autouse=True)
def no_wrong_anchors() -> Iterator[None]:
    """Fail if a page links to a section of the methods that does not exist."""
    from aggregator.templatetags import methods  # the change needs the settings

    def fail(anchor: str) -> str:
        raise AssertionError(f"the methods have no section {anchor!r}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "address_of_contents", fail)
        yield


@pytest.fixture(scope="session")
def static_files() -> None:
    """Put the collected static files in the tests' own folder."""
    copy_static_files(django_settings.VAR_DIR)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep the database file that the next fixture copies; the tests' folder is removed anyway."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Copy a migrated database, which is faster than migrating one in every process."""
    copy_empty_database(Path(django_settings.DATABASES["default"]["TEST"]["NAME"]))


@pytest.fixture(scope="session", autouse=True)
def quick_emptying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Empty an SQLite database by copying an empty one, which is ten times faster than a flush."""
    empty = tmp_path_factory.mktemp("empty") / "murmur.sqlite3"

    def copy_back(_case: TransactionTestCase) -> None:
        if not empty.exists():
            copy_empty_database(empty)
        connection.ensure_connection()
        with closing(sqlite3.connect(empty)) as source:
            source.backup(connection.connection)

    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "sqlite":
            patch.setattr(TransactionTestCase, "_fixture_teardown", copy_back)
        yield


@pytest.fixture(scope="session", autouse=True)
def compressed_once() -> Iterator[None]:
    """Compress each text once per process, because the browser's files never change in tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zopfli.gzip, "compress", lru_cache(maxsize=200)(zopfli.gzip.compress))
        yield
