"""Attacks by an ordinary account that sends fake reports and reads everything.

Before looks, sealing by chance and files of the whole wave were introduced, each of these attacks
found every person with all their codes. `python -m scripts.attacks.researcher.attack` prints the
results before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path

import pytest

from scripts.attacks.researcher.attack import write_fingerprints, write_outcome
from scripts.attacks.researcher.combinations import attack_small_groups, find_all_fingerprints
from scripts.attacks.researcher.ground import Design
from scripts.attacks.researcher.isolation import (
    Outcome,
    attack_after_the_close,
    attack_live,
    attack_one_by_one,
)
from scripts.attacks.researcher.membership import (
    find_bound,
    guess_from_all_pairs,
    guess_from_pages,
)
from scripts.attacks.researcher.partitions import ATTACKS
from scripts.attacks.researcher.small_crowds import (
    attack_by_hand,
    attack_coins,
    find_smallest_move,
)
from scripts.attacks.researcher.there import There
from scripts.attacks.researcher.together import PLANS, Plan, find_changes, find_cost
from scripts.stack.world import make_world
from surveys.manifest.manifest import SMALLEST_USUAL_BATCH

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
# With this number of people, chance alone hardly ever names all of them.
PEOPLE = 24
FEW = 4
LARGE = pytest.param(50, marks=pytest.mark.long)
at_both_sizes = pytest.mark.parametrize("k", [10, LARGE])


def tell(outcome: Outcome) -> Outcome:
    print(write_outcome(outcome))
    return outcome


@at_both_sizes
@pytest.mark.parametrize("times", [1, 2])
def test_fakes_around_a_person_link_no_row_while_a_survey_is_open(k: int, times: int) -> None:
    outcome = tell(attack_live(k, fakes=k - 1 if times == 1 else 2 * k, people=PEOPLE))
    assert outcome.rows == 0
    # Chance decides who waits, so the attacker cannot say whose codes a look shows.
    assert outcome.named < outcome.people


@at_both_sizes
@pytest.mark.parametrize("times", [1, 2])
def test_marked_fakes_link_no_row_after_the_close(k: int, times: int) -> None:
    outcome = tell(attack_after_the_close(k, fakes=k - 1 if times == 1 else 2 * k, people=PEOPLE))
    assert (outcome.rows, outcome.named) == (0, 0)


def test_no_row_is_alone_in_what_people_know_about_each_other() -> None:
    for found in find_all_fingerprints():
        print(write_fingerprints(found))
        assert (found.alone, found.few, found.compared) == (0, 0, 0)


@at_both_sizes
def test_fakes_still_show_the_codes_of_people_with_whom_nobody_else_answers(k: int) -> None:
    """Nobody can stop this while anybody may answer; the label and the threat model say so."""
    live = tell(attack_live(k, fakes=None, people=FEW))
    assert (live.isolated, live.rows) == (FEW, 0)
    assert live.fakes >= FEW * (k - 1)
    design = Design(minimum_batch=k, display_minimum=k, cap=3 * k)
    alone = tell(attack_one_by_one(design, people=FEW))
    assert (alone.isolated, alone.fakes) == (FEW, FEW * (3 * k - 1))


def test_fakes_in_the_groups_of_a_person_no_longer_show_their_row() -> None:
    """Levels with few people are merged, so rows of other people also match the known groups."""
    assert tell(attack_small_groups(people=FEW)).rows == 0


@pytest.mark.parametrize(
    ("plan", "k"),
    [*((plan, 10) for plan in PLANS), pytest.param(PLANS[-1], 50, marks=pytest.mark.long)],
    ids=lambda one: getattr(one, "name", one),
)
def test_attacks_put_together_cost_no_fake_less(plan: Plan, k: int) -> None:
    cost = find_cost(plan, k=k)
    assert cost.fakes in (None, cost.crowd - 1)
    assert cost.acknowledged == (["minimum_batch"] if k < SMALLEST_USUAL_BATCH else [])


@pytest.mark.parametrize("plan", PLANS[:7], ids=attrgetter("name"))
def test_figures_move_by_k_people_between_looks_and_at_the_close(plan: Plan) -> None:
    """While a survey with a random subset is open, only the number of all reports is shown."""
    changes = find_changes(plan, k=10)
    moved = (changes.between_looks, changes.at_close)
    assert all(people is not None and people >= 10 for people in moved)


@at_both_sizes
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_sums_of_large_groups_single_out_one_person(
    attack: Callable[[int], Outcome], k: int
) -> None:
    assert attack(k).isolated == 0


def test_enough_equations_find_every_member_of_a_group() -> None:
    """This is the control: the programs can find people."""
    assert guess_from_all_pairs().by_program > 0.99


def test_ten_people_for_each_equation_hide_who_is_in_a_group() -> None:
    found = guess_from_pages(surveys=10)
    assert (found.equations, found.known) == (12, 0.5)
    assert found.by_program < find_bound(found.people)
    # The pages still reveal something: the best guess is right for 59 of 100 people, not 50.
    told = found.equations * 10 / found.people
    assert find_bound(found.people) < found.by_squares < find_bound(found.people, told=told)


def test_nothing_about_a_group_with_fewer_people_for_each_equation_is_shown() -> None:
    found = guess_from_pages(surveys=3, smaller=1)
    assert found.equations == 0
    assert max(found.by_program, found.by_squares) < find_bound(found.people)


@at_both_sizes
def test_a_crowd_of_fewer_than_three_batches_shows_nobody(k: int) -> None:
    """Neither closing by hand nor paper reveals anybody if there are fewer than C - 1 fakes."""
    for fakes, found in ((k - 1, 0), (3 * k - 2, 0), (3 * k - 1, 1)):
        by_hand = attack_by_hand(k, fakes=fakes)
        assert (by_hand.isolated, by_hand.rows) == (found, found)
        on_paper = attack_coins(k, fakes=fakes, people=4 * k)
        assert (on_paper.isolated, on_paper.rows) == (found, 0)
        assert ("cap" in by_hand.acknowledged) is False


def test_no_block_of_a_random_subset_is_shown_before_the_close() -> None:
    """Otherwise, many blocks would change by only one or two people at the close."""
    assert find_smallest_move(k=10, blocks=16, people=600) is None


@pytest.mark.long
def test_fakes_sent_to_running_servers_link_no_row(tmp_path: Path) -> None:
    world = make_world(var=tmp_path, database_url="", MURMUR_BEHIND_PROXY="true")
    try:
        world.begin()
        with world.signed_in() as client:
            begin = partial(There, world=world, client=client)
            outcome = tell(attack_live(10, fakes=9, people=PEOPLE, begin=begin))
    finally:
        world.stack.stop()
    assert outcome.rows == 0
    assert outcome.named < outcome.people
