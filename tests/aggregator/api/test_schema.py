"""Many clients can request the description of the API at the same time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import RequestFactory

from aggregator.api.description import Schema


@pytest.fixture
def restless_threads() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless_threads")
def test_many_may_ask_for_it_at_once() -> None:
    def ask(_: int) -> int:
        return int(Schema.as_view()(RequestFactory().get("/api/schema")).status_code)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(16))) == {200}
