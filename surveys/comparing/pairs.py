"""The indicators and factors that are paired in a test of all pairs of questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from surveys.comparing.indicators import Factor, Indicator, list_predictors
from surveys.manifest.manifest import Manifest


def list_pair_indicators(manifest: Manifest) -> list[Indicator]:
    """List what is paired: a question's factor of all answers, or its indicators if it has none."""
    listed = [
        one for one in list_predictors(manifest) if not isinstance(one, Factor) or not one.is_trend
    ]
    factors = {one.question.name for one in listed if isinstance(one, Factor)}
    # The second of two options is only the opposite of the first.
    answers = {(one.symbol.name, one.yes) for one in listed}
    return [
        one
        for one in listed
        if isinstance(one, Factor)
        or (
            one.question.name not in factors
            and (one.yes < one.no or (one.symbol.name, one.no) not in answers)
        )
    ]


def list_pairs(indicators: Sequence[Indicator]) -> Iterator[tuple[Indicator, Indicator]]:
    """List the pairs of different questions or items in which at least one is scrambled.

    The first of a pair is a number or, if there is none, a scrambled answer, because only these can
    be outcomes.
    """
    for first, second in combinations(indicators, 2):
        if first.symbol == second.symbol or (first.is_known and second.is_known):
            continue
        one, other = first, second
        if first.is_known or (second.is_number and not first.is_number):
            one, other = second, first
        if one.gate is not None and one.gate == other.gate:
            other = replace(other, gate=None, gate_place=None)
        yield one, other
