"""Fixtures for all tests: the cast, and static files as the product serves them."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.core.management import call_command


@pytest.fixture(autouse=True)
def forgetful_cache() -> Iterator[None]:
    """Sign-in attempts of one test must not lock out the next."""
    yield
    cache.clear()


@pytest.fixture(scope="session")
def static_files() -> None:
    """Chart bundle and collected static files in the tests' own folder."""
    call_command("build_chart_bundle", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
