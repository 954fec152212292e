"""The items and formulas of a score, for programs without scores.

Both formats have `if`. A formula refers to another row as ${name}. `exchange.scoring` reads
formulas back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surveys.authoring.scale_lines import build_score
from surveys.manifest.scores import Output, Score, ScoredItem
from surveys.models import Question

_KEYS = ("type", "scored_items", "scored_options", "options", "output", "cut_off")


def read_score(question: Mapping[str, Any], *, scale: Mapping[str, Any] | None = None) -> Score:
    """Build the score that a definition's question describes. If given, `scale` lists the items."""
    own, other = (
        Question(**{key: one[key] for key in _KEYS if key in one})
        for one in (question, scale or question)
    )
    score = build_score(own, scale=other)
    assert score is not None
    return score


def list_values(score: Score) -> list[int]:
    """List the values of answers: their numbers, or their places if two numbers are equal."""
    counted = [one.value for one in score.options]
    places = list(range(1, len(counted) + 1))
    return counted if len(set(counted)) == len(counted) else places


def write_total(score: Score, *, names: Sequence[str]) -> str:
    pairs = zip(score.items, names, strict=True)
    return " + ".join(_write_item(item, name, score) for item, name in pairs)


def _write_item(item: ScoredItem, name: str, score: Score) -> str:
    values = [one.value for one in score.options]
    if list_values(score) == values:
        written = f"${{{name}}}"
        if item.reversed:
            written = f"({min(values) + max(values)} - {written})"
        return f"{item.weight} * {written}" if item.weight > 1 else written
    counted = [
        Score(items=(item,), options=score.options).find_total([place])
        for place in range(len(score.options))
    ]
    written = f"{counted[-1]}"
    for place, value in reversed(list(enumerate(counted[:-1], start=1))):
        written = f"if(${{{name}}} = {place}, {value}, {written})"
    return written


def write_code(score: Score, *, output: str, total: str) -> str:
    """Write the formula for a band's number, from 1, or for whether a total reaches a cut-off."""
    first = int(output == Output.BANDS)
    written = f"{first}"
    for code, bound in enumerate(score.bounds, start=first + 1):
        written = f"if(${{{total}}} >= {bound}, {code}, {written})"
    return written
