"""Why a report is not taken.

IntakeError
├── Refused         final: sending the same bytes again will not help
└── NotNow          try the same bytes later; `retry_after` seconds from now
"""

from __future__ import annotations

from aggregator.problems import Problem


class IntakeError(Exception):
    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail


class Refused(IntakeError):
    """The report is wrong, or too late."""


class NotNow(IntakeError):
    """The report may be right; we cannot take it at this moment."""

    def __init__(self, problem: Problem, detail: str, *, retry_after: int) -> None:
        super().__init__(problem, detail)
        self.retry_after = retry_after
