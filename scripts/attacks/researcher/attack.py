"""Attacks the crowd of a survey from an ordinary account, and prints what it finds out.

    python -m scripts.attacks.researcher.attack

The attacker made the survey, has its public link, reads every figure and file that Murmur offers,
and sends fakes with ids of their own choice. Everything runs in this process on an SQLite file in
memory.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.attacks.researcher.combinations import Fingerprints
    from scripts.attacks.researcher.isolation import Outcome

PEOPLE = 12


def run_isolation(people: int = PEOPLE) -> Iterator[Outcome]:
    from scripts.attacks.researcher import combinations, isolation
    from scripts.attacks.researcher.ground import Design

    for k in (10, 50):
        for fakes in (k - 1, 2 * k, None):
            yield isolation.attack_live(k, fakes=fakes, people=people)
        for fakes in (k - 1, 2 * k):
            yield isolation.attack_after_the_close(k, fakes=fakes, people=people)
        for cap in (k, 3 * k):
            design = Design(minimum_batch=k, display_minimum=k, cap=cap)
            yield isolation.attack_one_by_one(design, people=people)
    yield combinations.attack_small_groups(people=people)


def run_combinations() -> Sequence[Fingerprints]:
    from scripts.attacks.researcher.combinations import find_all_fingerprints

    return find_all_fingerprints()


def write_outcome(outcome: Outcome) -> str:
    return (
        f"{outcome.minimum_batch:>3}  {outcome.attack:<50}{outcome.people:>6}"
        f"{outcome.fakes_each:>7.0f}{outcome.isolated:>9}{outcome.named:>6}{outcome.rows:>5}"
        f"{outcome.wrong:>6}"
    )


def write_fingerprints(found: Fingerprints) -> str:
    return (
        f"     {found.attack:<50}{found.rows:>6}{found.alone:>6}{found.few:>6}"
        f"{found.compared:>9}{found.refused:>8}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _set_up(Path(folder))
        print("  K  attack" + " " * 44 + "people  fakes isolated named rows wrong")
        for outcome in run_isolation():
            print(write_outcome(outcome), flush=True)
        print("     known about people" + " " * 34 + "rows alone   few compared refused")
        for found in run_combinations():
            print(write_fingerprints(found), flush=True)


def _set_up(var: Path) -> None:
    """Connect to an empty database of our own."""
    (var / "static").mkdir()
    os.environ |= {"MURMUR_VAR": str(var), "MURMUR_HTTPS": "false"}
    os.environ.pop("DATABASE_URL", None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "scripts.attacks.researcher.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    logging.getLogger("django.request").setLevel(logging.ERROR)  # "too few responses" is expected
    call_command("migrate", "--no-input", "--verbosity", "0")


if __name__ == "__main__":
    main()
