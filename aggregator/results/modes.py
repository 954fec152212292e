"""Browser and coins side by side: the same questions, asked in two ways of people who chose.

The two are estimated apart everywhere. Here they are compared, and put together only when a
researcher asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aggregator.results.results import QuestionResult, Results
from privacy.associations.comparison import (
    GroupDifference,
    PooledShare,
    compare_groups,
    pool_strata,
)


@dataclass(frozen=True, kw_only=True)
class StrataQuestion:
    """One question of Yes or No, answered in both ways by enough people."""

    browser: QuestionResult
    coins: QuestionResult

    @cached_property
    def difference(self) -> GroupDifference:
        """Coins less browser, of true answers; for one look."""
        return compare_groups(**self._counts)

    @cached_property
    def pooled(self) -> PooledShare:
        """One share of both, which only makes sense if they have one."""
        return pool_strata(**self._counts)

    @property
    def alarms(self) -> tuple[str, ...]:
        """Where the codes cannot have come from the survey's page."""
        found = {"the browser": self.browser, "coins": self.coins}
        return tuple(name for name, result in found.items() if result.alarm)

    @property
    def _counts(self) -> dict[str, Any]:
        both = (self.coins, self.browser)
        return {
            "successes": [result.interest[0].count for result in both],
            "totals": [result.total for result in both],
            "mechanisms": [result.question.mechanism for result in both],
        }


def pair_strata(*, browser: Results, coins: Results) -> Iterator[StrataQuestion]:
    """Questions of which both strata show figures, in the order of the survey."""
    of_browser = {result.question.name: result for result in browser.questions}
    for result in coins.questions:
        other = of_browser[result.question.name]
        if result.interest and other.interest:
            yield StrataQuestion(browser=other, coins=result)
