"""The two kinds of refusal.

IntakeError
├── Refused         final: sending the same bytes again will not help
└── RetryLater      send the same bytes again after `retry_after` seconds
"""

from __future__ import annotations

from aggregator.problems import Problem


class IntakeError(Exception):
    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail


class Refused(IntakeError):
    """The report is invalid or too late."""


class RetryLater(IntakeError):
    """The report may be valid, but it cannot be accepted right now."""

    def __init__(self, problem: Problem, detail: str, *, retry_after: int) -> None:
        super().__init__(problem, detail)
        self.retry_after = retry_after
