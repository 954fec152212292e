"""Computes the precision of one share or mean, and the people needed, for every page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import (
    ExpectedReports,
    people_for_ratio_half_width,
    ratio_half_width,
)
from privacy.planning.precision import (
    half_width,
    people_for_half_width,
    people_for_watched_half_width,
    watched_half_width,
    watched_level,
)

HALF = 0.5  # an interval of ± 50 points says nothing
# Results hide a figure if its 95 % interval would be wider than this at a share of COMPARED_AT.
COMPARED_AT = 0.2
WIDEST = 0.5

# The figures are cached, because most questions of a survey are alike.
_watched_margin = lru_cache(maxsize=4096)(watched_half_width)
_watched_people = lru_cache(maxsize=4096)(people_for_watched_half_width)
_level_of_watched = lru_cache(maxsize=1)(watched_level)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """An expected share, or a mean as a fraction of its range, and how the survey asks for it.

    `reports` describes the expected reports if not everyone answers. `part` is the fraction of
    people who get the question. If the author watches the results, the methods treat their argument
    `people` as the number of people expected.
    """

    share: float
    mechanism: RandomizedResponse
    reports: ExpectedReports | None
    watched: bool
    part: float = 1.0

    def find_margin(self, people: int) -> float:
        """Find half the width of the 95 % interval if this many people take part."""
        asked = self.count_asked(people)
        if self.reports is not None:
            return ratio_half_width(reports=self.reports, people=asked, level=self._level)
        find = _watched_margin if self.watched else half_width
        return find(share=self.share, people=asked, mechanism=self.mechanism)

    def count_asked(self, people: int) -> int:
        """Return how many of these people get the question, at least one."""
        return max(1, round(people * self.part))

    def find_people(self, margin: float) -> int:
        """Find how many people must take part to reach this margin."""
        if self.reports is not None:
            asked = people_for_ratio_half_width(
                reports=self.reports, half_width=margin, level=self._level
            )
        else:
            find = _watched_people if self.watched else people_for_half_width
            asked = find(share=self.share, half_width=margin, mechanism=self.mechanism)
        return ceil(asked / self.part - 1e-9)

    @property
    def _level(self) -> float:
        return _level_of_watched(LEVEL) if self.watched else LEVEL
