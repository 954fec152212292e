"""Decide whether each half of a divided wave may be compared by declared groups."""

from __future__ import annotations

from aggregator.batches.combinations import count_combinations
from aggregator.models import Batch
from aggregator.results.groups.equations import PEOPLE_FOR_EQUATION, count_equations
from surveys.models import Wave

MOST_CLAIMS = 10
# The outcome of a claim has at most three categories: Yes, No and no answer.
EQUATIONS_OF_A_CLAIM = 2


def can_tell_groups(wave: Wave) -> bool:
    """Return whether no table by declared groups can single out a few people in the halves.

    In each half, every combination of declared answers must contain either nobody or enough people.
    The same then holds for every union of combinations, and for both halves together. "Enough"
    means at least the crowd and at least ten people for each equation of a breakdown and of all
    claims, because the file of rows may leave out a group later.
    """
    manifest = wave.description
    equations = count_equations(manifest) + MOST_CLAIMS * EQUATIONS_OF_A_CLAIM
    enough = max(manifest.crowd, PEOPLE_FOR_EQUATION * equations)
    own = Batch.every.filter(wave=wave)
    halves = (
        count_combinations(wave, manifest, batches=own.filter(is_held=is_held))
        for is_held in (False, True)
    )
    return all(found.people.min() >= enough for found in halves)
