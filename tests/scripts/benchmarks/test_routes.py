"""The benchmark of routes fails if any request fails."""

from __future__ import annotations

from collections import Counter

import pytest

from scripts.benchmarks.routes import refuse_failures


def test_only_a_failure_stops_the_benchmark() -> None:
    refuse_failures("/", Counter({200: 9, 404: 1, 429: 2, 503: 3}))
    with pytest.raises(SystemExit, match="/api/schema answered with 500, 502"):
        refuse_failures("/api/schema", Counter({200: 9, 502: 1, 500: 7}))
