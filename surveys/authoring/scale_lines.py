"""The lines in which authors write a scale: items, their shared answers, and bands.

Drafts store the lines; manifests store their meaning (surveys.manifest.scores).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from surveys.form_fields import write_number
from surveys.manifest.scores import (
    LEAST_BANDS,
    MOST_WEIGHT,
    Output,
    Score,
    ScoredItem,
    ScoredOption,
)
from surveys.models import Question

REVERSED = "reversed"
_MINUS = "\N{MINUS SIGN}"
_NUMBER = rf"[-{_MINUS}]?\d{{1,7}}"
_AFTER = r"(?:\s|[.:)=](?!\d))"  # what follows a number, except a decimal point
_OPTION = re.compile(rf"({_NUMBER}){_AFTER}\s*(\S.*)", re.ASCII)
_BAND = re.compile(
    rf"({_NUMBER})(?:\s*(?:[-\N{{EN DASH}}\N{{EM DASH}}]|to)\s*({_NUMBER}))?(?:{_AFTER}.*)?",
    re.ASCII,
)
_WEIGHT = re.compile(r"[×x*]\s*(\d{1,3})", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Band:
    low: int
    high: int


def parse_item(line: str) -> ScoredItem:
    """Read an item and the marks at its end, such as “I slept badly | reversed | ×2”."""
    text, *marks = (part.strip() for part in line.split("|"))
    weight, is_reversed = 1, False
    for mark in marks:
        found = _WEIGHT.fullmatch(mark)
        if mark.casefold() == REVERSED and not is_reversed:
            is_reversed = True
        elif found and 1 <= int(found[1]) <= MOST_WEIGHT and weight == 1:
            weight = int(found[1])
        else:
            raise ValueError(
                f"has the mark “{mark}”. After a |, write “{REVERSED}”, or a weight from ×2 to "
                f"×{MOST_WEIGHT}."
            )
    if not text:
        raise ValueError("has no text before the |. Write the item first.")
    return ScoredItem(text=text, weight=weight, reversed=is_reversed)


def parse_option(line: str) -> ScoredOption:
    """Read a value and an answer, such as “0 Not at all”."""
    found = _OPTION.fullmatch(line)
    if not found:
        raise ValueError("does not begin with a whole number. Write what the answer counts first.")
    return ScoredOption(value=_read(found[1]), text=found[2].strip())


def number_options(typed: str) -> str:
    """Number answers 0, 1, 2, … if none of them begins with a number."""
    lines = typed.splitlines()
    if any(re.match(rf"\s*{_NUMBER}", line) for line in lines):
        return typed
    numbers = count()
    return "\n".join(f"{next(numbers)} {line.strip()}" if line.strip() else "" for line in lines)


def parse_band(line: str) -> Band:
    """Read the totals before the name of a band, as in “5–9 Mild”."""
    found = _BAND.fullmatch(line)
    if not found:
        raise ValueError("does not begin with totals, such as 5–9.")
    low = _read(found[1])
    high = low if found[2] is None else _read(found[2])
    if high < low:
        raise ValueError("ends below its beginning. Write the smaller total first.")
    return Band(low=low, high=high)


def _read(number: str) -> int:
    return int(number.replace(_MINUS, "-"))


def build_score(question: Question, *, scale: Question | None = None) -> Score | None:
    """Build the score that a question's lines describe, or return None if its type has no score.

    A second code has the items of `scale`.
    """
    if question.type not in (Question.Type.SCORE, Question.Type.SECOND):
        return None
    scale = scale or question
    bounds: tuple[int, ...] = ()
    if question.output == Output.BANDS:
        bounds = tuple(parse_band(line).low for line in question.options[1:])
    elif question.output == Output.CUT_OFF:
        if question.cut_off is None:
            raise ValueError("has no cut-off.")
        bounds = (question.cut_off,)
    return Score(
        items=tuple(map(parse_item, scale.scored_items)),
        options=tuple(map(parse_option, scale.scored_options)),
        bounds=bounds,
    )


def find_band_problems(bands: Sequence[Band], *, scale: Score) -> Iterator[str]:
    """Say where bands leave out totals of a scale, overlap, or contain no possible total."""
    expected = scale.minimum
    for number, band in enumerate(bands, start=1):
        if band.low > expected:
            yield f"No band has {_name(expected, band.low - 1)}. Add it to line {number}."
        elif band.low < expected:
            why = (
                "it begins below the lowest total" if number == 1 else "it overlaps the line above"
            )
            yield f"Line {number} must begin at {write_number(expected)}: {why}."
        elif band.high <= scale.maximum and not scale.is_reachable(band.low, band.high):
            yield f"Line {number} stays empty: no answers add up to {_name(band.low, band.high)}."
        expected = band.high + 1
    if expected != scale.maximum + 1:
        yield f"The last band must end at {write_number(scale.maximum)}, the highest total."


def fit_bands(lines: Sequence[str], *, scale: Score) -> list[str]:
    """Extend or cut the outer bands to fit a scale, or return no lines if that is not enough."""
    kept = [
        (band, line)
        for line, band in zip(lines, map(parse_band, lines), strict=True)
        if band.low <= scale.maximum and band.high >= scale.minimum
    ]
    fitted = [
        _write_totals(
            line,
            low=band.low if place else scale.minimum,
            high=scale.maximum if place == len(kept) - 1 else band.high,
        )
        for place, (band, line) in enumerate(kept)
    ]
    fits = not any(find_band_problems(list(map(parse_band, fitted)), scale=scale))
    return fitted if fits and len(fitted) >= LEAST_BANDS else []


def _write_totals(line: str, *, low: int, high: int) -> str:
    """Replace the totals in the line of a band but keep the band's name."""
    band, found = parse_band(line), _BAND.fullmatch(line)
    if found is None or band == Band(low=low, high=high):
        return line
    totals = f"{low}" if low == high else f"{low}–{high}"
    return totals + line[max(found.end(1), found.end(2)) :]


def find_output_problem(question: Question, *, scale: Score) -> str:
    """Say why the bands or the cut-off do not fit the totals of a scale, if they do not."""
    if question.output == Output.BANDS:
        bands = list(map(parse_band, question.options))
        return next(find_band_problems(bands, scale=scale), "")
    cut_off = question.cut_off
    if question.output == Output.CUT_OFF and not (
        cut_off is not None and scale.minimum < cut_off <= scale.maximum
    ):
        low, high = map(write_number, (scale.minimum, scale.maximum))
        return (
            f"Totals lie between {low} and {high}. Enter a whole number from "
            f"{write_number(scale.minimum + 1)} to {high}."
        )
    return ""


def _name(low: int, high: int) -> str:
    if low == high:
        return f"the total {write_number(low)}"
    return f"totals from {write_number(low)} to {write_number(high)}"
