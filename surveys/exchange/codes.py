"""Codes that a formula computes from a total: the band, or whether the total reaches a cut-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surveys.authoring.scale_lines import parse_band
from surveys.exchange.reading.sums import Step
from surveys.manifest.scores import MOST_BANDS, Output

_CUT_OFFS = (("0", "1"), ("no", "yes"), ("false", "true"))


class NoCodes(Exception):
    """Says why the results of a formula cannot be codes of a scale."""


@dataclass(frozen=True, kw_only=True)
class Codes:
    """The output of a scale, as in QuestionContent; `answers` maps results to names in rules."""

    content: dict[str, Any]
    answers: Mapping[str, str] = field(default_factory=dict)


TOTAL = Codes(content={"output": Output.TOTAL})


def find_codes(steps: Sequence[Step], *, low: int, high: int, names: Mapping[str, str]) -> Codes:
    """Find the codes of totals from `low` to `high`. `names` maps results to lines of bands.

    Raises NoCodes if the results cannot be codes of a scale.
    """
    if not steps:
        return TOTAL
    bands = _list_bands(steps, low=low, high=high)
    results = [result for _, _, result in bands]
    if "" in results:
        raise NoCodes("It leaves some totals without a result.")
    if len(bands) == 1:
        raise NoCodes(f"All totals from {low} to {high} have the same result.")
    if len(set(results)) < len(results):
        raise NoCodes("Totals that are not neighbours have the same result.")
    if len(results) > MOST_BANDS:
        raise NoCodes(f"It makes {len(results)} bands. A score has at most {MOST_BANDS}.")
    if not names and tuple(map(str.casefold, results)) in _CUT_OFFS:
        content = {"output": Output.CUT_OFF, "cut_off": bands[1][0]}
        return Codes(content=content, answers=dict(zip(results, ("no", "yes"), strict=True)))
    lines = [_write_band(*band, name=names.get(band[2], "")) for band in bands]
    places = map(str, range(1, len(results) + 1))
    return Codes(
        content={"output": Output.BANDS, "options": lines},
        answers=dict(zip(results, places, strict=True)),
    )


def _list_bands(steps: Sequence[Step], *, low: int, high: int) -> list[tuple[int, int, str]]:
    starts = {low}
    for first, last, _ in steps:
        starts |= {one for one in (first, None if last is None else last + 1) if one is not None}
    bands: list[tuple[int, int, str]] = []
    for start in sorted(one for one in starts if low <= one <= high):
        result = next(
            result
            for first, last, result in steps
            if (first is None or first <= start) and (last is None or start <= last)
        )
        if bands and bands[-1][2] == result:
            continue
        if bands:
            bands[-1] = (bands[-1][0], start - 1, bands[-1][2])
        bands.append((start, high, result))
    return bands


def _write_band(low: int, high: int, result: str, *, name: str) -> str:
    """Write the line of a band, or keep the file's line for these totals if there is one."""
    try:
        band = parse_band(name)
    except ValueError:
        band = None
    if band is not None and (band.low, band.high) == (low, high):
        return name
    totals = f"{low}" if low == high else f"{low}–{high}"
    said = name or (result if any(map(str.isalpha, result)) else "")
    return " ".join(f"{totals} {said}".split())
