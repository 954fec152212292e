"""The known truth of the demo survey: Redbook 1974 (Fair 1978), 6,366 women."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KnownShare:
    """How many of all respondents would truthfully say yes."""

    label: str
    yes: int
    total: int = 6366

    @property
    def share(self) -> float:
        return self.yes / self.total


# In the order of the demo's questions.
DEMO_TRUTH = (
    KnownShare(label="affair", yes=2053),
    KnownShare(label="unhappy marriage", yes=1440),
    KnownShare(label="religious", yes=3078),
    KnownShare(label="has children", yes=3952),
)
