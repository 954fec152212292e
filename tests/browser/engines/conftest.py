"""Fixtures of the tests that also run in engines other than Chromium."""

from collections.abc import Iterator

import pytest

from tests.support.engines.launch import ENGINES, open_browser
from tests.support.engines.line import line
from tests.support.engines.tab import Tab

__all__ = ["line"]


@pytest.fixture(params=[one for one in ENGINES if one != "chromium"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tab(engine: str) -> Iterator[Tab]:
    """Open a tab as large as a phone, in a browser with an empty profile."""
    with open_browser(engine) as found:
        yield found
