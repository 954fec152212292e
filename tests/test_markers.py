"""Markers come from folders and fixtures; a test that starts a server without a marker fails."""

from __future__ import annotations

import subprocess

import pytest

from scripts.stack.stack import valkey_binary
from tests.support.markers import MarkerMissing


def markers_of(request: pytest.FixtureRequest) -> set[str]:
    return {marker.name for marker in request.node.iter_markers()}


def test_an_unmarked_test_cannot_start_a_server() -> None:
    with pytest.raises(MarkerMissing, match=r"pytest\.mark\.redis"):
        subprocess.Popen([valkey_binary(), "--version"])
    with pytest.raises(MarkerMissing, match=r"pytest\.mark\.postgres"):
        subprocess.run(["initdb", "--version"], check=False)


@pytest.mark.redis
def test_a_marked_test_can_start_a_server() -> None:
    done = subprocess.run([valkey_binary(), "--version"], capture_output=True, check=True)
    assert done.stdout.startswith((b"Valkey server", b"Server v="))


@pytest.fixture
def named_after_redis() -> None:
    return


def test_the_name_of_a_fixture_shows_what_it_starts(
    named_after_redis: None, request: pytest.FixtureRequest
) -> None:
    assert markers_of(request) == {"redis"}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_parameter_also_shows_what_it_starts(
    database: str, request: pytest.FixtureRequest
) -> None:
    assert markers_of(request) - {"parametrize"} == (
        {"postgres"} if database == "postgresql" else set()
    )
