"""The kill storm's checker catches builds made on purpose to lose or duplicate reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.attacks.storm.controls import run_broken_sealer, run_naive_celery
from scripts.stack.postgres import Postgres

pytestmark = pytest.mark.long


def test_a_sealer_that_deletes_before_it_inserts_is_caught(
    postgres: Postgres, tmp_path: Path
) -> None:
    caught = run_broken_sealer(
        "delete_first", var=tmp_path, database_url=postgres.create_database()
    )
    print(caught.evidence, caught.verdict, sep="\n")
    assert caught.verdict.lost


def test_a_sealer_that_inserts_before_it_deletes_is_caught(
    postgres: Postgres, tmp_path: Path
) -> None:
    caught = run_broken_sealer(
        "insert_first", var=tmp_path, database_url=postgres.create_database()
    )
    print(caught.evidence, caught.verdict, sep="\n")
    assert caught.verdict.doubled


def test_naive_celery_is_caught(postgres: Postgres, tmp_path: Path) -> None:
    caught = run_naive_celery(var=tmp_path, database_url=postgres.create_database())
    print(caught.evidence, caught.verdict, sep="\n")
    assert caught.verdict.lost or caught.verdict.doubled
