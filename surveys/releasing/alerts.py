"""Alerts look once a day until they find that more than a given share of people gave an answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from privacy.central.above_threshold import (
    choose_alert_threshold,
    least_surpassing_count,
    noticed_share,
)
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.questions import Symbol
from surveys.manifest.releases import ReleaseRequest

# An alert looks once a day for a year, and then ends.
MOST_LOOKS = 366
# The probability that scrambling and chance cause no false alert. The probability that noise causes
# none is the same.
PART_LEVEL = 0.975
WRONG = round(200 * (1 - PART_LEVEL))  # of 100, for both causes together
NOTICED = 0.9
_YES = 1


@dataclass(frozen=True, kw_only=True)
class Target:
    """The code that an alert counts, among the reports that have its symbol."""

    symbol: Symbol
    code: int
    percent: int

    @property
    def share_on_line(self) -> float:
        """The share of reports with the code if the true share is exactly at the alert's line."""
        mechanism = self.symbol.mechanism
        return mechanism.other_probability + mechanism.slope * self.percent / 100

    def find_distance(self, cells: list[int]) -> int:
        """Return by how many reports the count of the code exceeds the most that the line explains.

        One report more or less changes this distance by at most one.
        """
        people = sum(cells)
        least = least_surpassing_count(people, share=self.share_on_line, level=PART_LEVEL)
        return cells[self.code] - int(least)


def find_target(request: ReleaseRequest, manifest: Manifest) -> Target:
    """Find the code that an alert counts; the request must have been checked."""
    assert request.answer is not None
    assert request.percent is not None
    (question,) = (one for one in manifest.questions if one.name in request.questions)
    name = question.item_name(request.answer) if question.has_items else question.name
    symbol = next(one for one in manifest.symbols if one.name == name)
    code = _YES if question.has_items else request.answer
    return Target(symbol=symbol, code=code, percent=request.percent)


def find_threshold(request: ReleaseRequest) -> int:
    """Return the threshold for the noisy distance, before noise is added to the threshold."""
    epsilon = request.epsilon_hundredths / HUNDREDTHS
    return choose_alert_threshold(looks=MOST_LOOKS, epsilon=epsilon, level=PART_LEVEL)


def find_noticed_share(request: ReleaseRequest, manifest: Manifest, *, people: int) -> float:
    """Return the true share that gives an alert 9 times in 10 if this many people took part."""
    target = find_target(request, manifest)
    mechanism = target.symbol.mechanism
    return noticed_share(
        people=floor(people * manifest.find_asked_fraction(target.symbol.question)),
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
        line=target.percent / 100,
        level=PART_LEVEL,
        threshold=find_threshold(request),
        epsilon=request.epsilon_hundredths / HUNDREDTHS,
        chance=NOTICED,
    )
