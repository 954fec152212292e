"""Attacks the crowd of a survey from an ordinary account, and prints what the attacker learns.

    python -m scripts.attacks.researcher.attack

The attacker is the survey's author, has its public link, reads every figure and file that Murmur
offers, and sends fake reports with chosen ids. Everything runs in this process on an empty SQLite
file. The columns before the bar were measured before looks, random sealing and files of the whole
wave existed. At that time, every attack found everyone.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.attacks.researcher.combinations import Fingerprints
    from scripts.attacks.researcher.isolation import Outcome
    from scripts.attacks.researcher.together import Changes, Cost

PEOPLE = 12
# The earlier results, by attack and K: fakes per person, and how many of 12 rows were found.
BEFORE: Mapping[tuple[str, int], tuple[int, int]] = {
    ("live, 9 fakes for each person", 10): (11, 12),
    ("live, 20 fakes for each person", 10): (22, 12),
    ("live, fakes until a person is seen", 10): (12, 12),
    ("after the close, 9 marked fakes for each person", 10): (10, 12),
    ("after the close, 20 marked fakes for each person", 10): (21, 12),
    ("one survey for each person, which ends after 10", 10): (9, 12),
    ("one survey for each person, which ends after 30", 10): (29, 12),
    ("live, 49 fakes for each person", 50): (57, 12),
    ("live, 100 fakes for each person", 50): (108, 12),
    ("live, fakes until a person is seen", 50): (58, 12),
    ("after the close, 49 marked fakes for each person", 50): (53, 12),
    ("after the close, 100 marked fakes for each person", 50): (104, 12),
    ("one survey for each person, which ends after 50", 50): (49, 12),
    ("one survey for each person, which ends after 150", 50): (149, 12),
    ("after the close, 29 fakes in each person's groups", 10): (29, 12),
}
# The earlier results: rows with unique known facts, and rows whose facts too few others share.
ALONE_BEFORE: Mapping[str, tuple[int, int]] = {
    "three declared groups of eight": (168, 320),
    "8 of 16 questions drawn": (314, 320),
}
HEAD = (
    "  K  attack                                            people  fakes  rows"
    " |  fakes isolated named  rows"
)
ROWS_HEAD = (
    "     what people know about each other                   rows  alone   few"
    " |   rows    alone   few  compared"
)
TOGETHER_HEAD = (
    "  K  attacks together                                  fakes   C - 1    looks  at close"
)
MEMBERSHIP_HEAD = (
    "     who is in a group that the file does not mark     people equations known program squares"
)


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
    fakes, rows = BEFORE[outcome.attack, outcome.minimum_batch]
    return (
        f"{outcome.minimum_batch:>3}  {outcome.attack:<50}{outcome.people:>6}{fakes:>7}{rows:>6}"
        f" |{outcome.fakes_each:>7.0f}{outcome.isolated:>9}{outcome.named:>6}{outcome.rows:>6}"
        f"{_tell_limits(outcome)}"
    )


def _tell_limits(found: Outcome | Cost) -> str:
    return f"  acknowledged: {', '.join(found.acknowledged)}" if found.acknowledged else ""


def run_small_crowds() -> Iterator[str]:
    """Describe for each small crowd what K - 1, C - 2 and C - 1 fakes reveal."""
    from scripts.attacks.researcher.small_crowds import (
        attack_by_hand,
        attack_coins,
        find_smallest_move,
    )

    for k in (10, 50):
        for fakes in (k - 1, 3 * k - 2, 3 * k - 1):
            for found in (
                attack_by_hand(k, fakes=fakes),
                attack_coins(k, fakes=fakes, people=4 * k),
            ):
                seen = "seen" if found.isolated else "not seen"
                yield f"{k:>3}  {found.attack:<50}{seen:>10}{_tell_limits(found)}"
        smallest = find_smallest_move(k=k, blocks=16, people=40 * k)
        told = "none is shown before" if smallest is None else f"one moves by {smallest}"
        yield f"{k:>3}  {'blocks of a random subset at the close':<50}{told:>10}"


def run_together(k: int = 10) -> Iterator[str]:
    """Say what each combination of attacks costs, and how few people change its figures."""
    from scripts.attacks.researcher.together import PLANS, find_changes, find_cost

    for plan in PLANS:
        yield write_cost(find_cost(plan, k=k), find_changes(plan, k=k))


def write_cost(cost: Cost, changes: Changes) -> str:
    fakes = f"> {cost.crowd - 1}" if cost.fakes is None else cost.fakes
    moved = [
        "none" if number is None else number for number in (changes.between_looks, changes.at_close)
    ]
    return (
        f"{cost.minimum_batch:>3}  {cost.attack:<50}{fakes:>6}{cost.crowd - 1:>6}"
        f"{moved[0]:>9}{moved[1]:>10}{_tell_limits(cost)}"
    )


def run_without_fakes() -> Iterator[str]:
    from scripts.attacks.researcher.partitions import ATTACKS

    for k in (10, 50):
        for attack in ATTACKS:
            found = attack(k)
            seen = "SEEN" if found.isolated else "not seen"
            yield f"{k:>3}  {found.attack:<50}{seen:>10}{_tell_limits(found)}"


def run_membership() -> Iterator[str]:
    from scripts.attacks.researcher.membership import guess_from_all_pairs, guess_from_pages

    for found in (
        guess_from_all_pairs(),
        guess_from_pages(surveys=10),
        guess_from_pages(surveys=5, smaller=1),
    ):
        yield (
            f"     {found.attack:<50}{found.people:>6}{found.equations:>6}{found.known:>7.3f}"
            f"{found.by_program:>9.3f}{found.by_squares:>9.3f}"
        )


def write_fingerprints(found: Fingerprints) -> str:
    alone, few = ALONE_BEFORE[found.attack]
    return (
        f"     {found.attack:<50}{found.people:>6}{alone:>7}{few:>6}"
        f" |{found.rows:>7}{found.alone:>9}{found.few:>6}{found.compared:>10}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _set_up(Path(folder))
        print(f"{'before':>74} |  now", HEAD, sep="\n")
        for outcome in run_isolation():
            print(write_outcome(outcome), flush=True)
        for line in run_small_crowds():
            print(line, flush=True)
        for head, lines in (
            (TOGETHER_HEAD, run_together()),
            ("  K  attack without fakes", run_without_fakes()),
            (MEMBERSHIP_HEAD, run_membership()),
        ):
            print(head)
            for line in lines:
                print(line, flush=True)
        print(f"{'before':>74} |  now", ROWS_HEAD, sep="\n")
        for found in run_combinations():
            print(write_fingerprints(found), flush=True)


def _set_up(var: Path) -> None:
    """Connect to a new, empty database."""
    (var / "static").mkdir()
    os.environ |= {"MURMUR_VAR": str(var), "MURMUR_HTTPS": "false"}
    os.environ.pop("DATABASE_URL", None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "scripts.attacks.researcher.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    # This hides messages such as those about results with too few responses.
    logging.disable(logging.WARNING)
    call_command("migrate", "--no-input", "--verbosity", "0")


if __name__ == "__main__":
    main()
