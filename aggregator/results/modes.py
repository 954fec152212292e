"""Compare the answers to the same questions in the browser and with two coins.

All other modules estimate the two modes separately. This module compares their estimates, and pools
them only at the request of a researcher.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from aggregator.results.display import Results
from aggregator.results.estimate import QuestionResult
from privacy.associations.known_groups import (
    GroupDifference,
    PooledShare,
    compare_groups,
    pool_strata,
)
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class ModeComparison:
    """One yes/no question that enough people answered in each mode."""

    browser: QuestionResult
    coins: QuestionResult

    @cached_property
    def difference(self) -> GroupDifference:
        """The true share with coins minus the one in the browser, with an interval for one look."""
        return compare_groups(
            successes=self._successes, totals=self._totals, mechanisms=self._mechanisms
        )

    @cached_property
    def pooled(self) -> PooledShare:
        """One share for both modes, which makes sense only if their true shares are equal."""
        return pool_strata(
            successes=self._successes, totals=self._totals, mechanisms=self._mechanisms
        )

    @property
    def alarms(self) -> tuple[str, ...]:
        """The modes whose codes cannot all have come from the survey's page."""
        found = {"the browser": self.browser, "coins": self.coins}
        return tuple(name for name, result in found.items() if result.alarm)

    @property
    def _modes(self) -> tuple[QuestionResult, ...]:
        return self.coins, self.browser

    @property
    def _successes(self) -> list[int]:
        return [result.shown[0].count for result in self._modes]

    @property
    def _totals(self) -> list[int]:
        return [result.total for result in self._modes]

    @property
    def _mechanisms(self) -> list[RandomizedResponse]:
        return [result.question.mechanism for result in self._modes]


def compare_modes(*, browser: Results, coins: Results) -> Iterator[ModeComparison]:
    """Compare each question for which both modes show results, in the survey's order."""
    of_browser = {result.question.name: result for result in browser.questions}
    for result in coins.questions:
        other = of_browser[result.question.name]
        if result.shown and other.shown:
            yield ModeComparison(browser=other, coins=result)
