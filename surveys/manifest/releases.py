"""The releases that a protected survey may publish: their kinds, and the request for a release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices


class ReleaseKind(TextChoices):
    TABLE = "table", "Table"
    LEADER = "leader", "Leader"
    MEDIAN = "median", "Median"
    ALERT = "alert", "Alert"
    KEY_DRIVER = "key_driver", "Key driver"
    # A point that need not be the median. Only earlier versions drew such releases.
    TYPICAL = "typical", "Typical answer"

    @property
    def names_one_answer(self) -> bool:
        """Whether a random draw names one answer to one question."""
        return self not in (ReleaseKind.TABLE, ReleaseKind.ALERT, ReleaseKind.KEY_DRIVER)

    @property
    def comes_while_open(self) -> bool:
        """Whether a release of this kind may be drawn before the close."""
        return self == ReleaseKind.ALERT

    def sort_questions(self, chosen: Sequence[str], *, known: Iterable[str]) -> tuple[str, ...]:
        """Put chosen names in the order of the known names.

        The outcome of a key driver comes first. Without a known outcome, the result is empty.
        """
        ordered = tuple(name for name in known if name in chosen)
        if self != ReleaseKind.KEY_DRIVER:
            return ordered
        outcome = chosen[0] if chosen else ""
        return (outcome, *(name for name in ordered if name != outcome)) * (outcome in ordered)


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    kind: ReleaseKind
    # Names of questions, in the order of the manifest once the request is checked. The outcome of a
    # key driver comes first, followed by its predictors.
    questions: tuple[str, ...]
    epsilon_hundredths: int
    # An alert has the code of an answer, and the share in percent that must be exceeded.
    answer: int | None = None
    percent: int | None = None
    # The declared question that divides a table into groups, or "" for one table of everyone.
    group: str = ""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ReleaseRequest:
        return cls(
            kind=ReleaseKind(content["kind"]),
            questions=tuple(content["questions"]),
            epsilon_hundredths=content["epsilon_hundredths"],
            answer=content.get("answer"),
            percent=content.get("percent"),
            group=content.get("group", ""),
        )

    def to_json(self) -> dict[str, Any]:
        content = {
            "kind": str(self.kind),
            "questions": list(self.questions),
            "epsilon_hundredths": self.epsilon_hundredths,
        }
        # Keys that do not apply are left out, so that older requests keep their digest.
        more = {"answer": self.answer, "percent": self.percent, "group": self.group or None}
        return content | {name: value for name, value in more.items() if value is not None}

    @property
    def digest(self) -> str:
        """The SHA-256 hash of the request. Equal requests are the same release."""
        content = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()
