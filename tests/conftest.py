"""Fixtures for all tests: the cast, and static files as the product serves them."""

import os
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.core.management import call_command
from hypothesis import settings

# The same examples in every run: a failure means a fault, not bad luck, and a slow machine is
# none. To look for new ones: HYPOTHESIS_PROFILE=search scripts/test tests/privacy
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


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
