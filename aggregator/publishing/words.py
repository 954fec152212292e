"""Words about releases for researchers: kinds, choices and amounts of ε."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.models import Release
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import OFFERED, list_candidates
from surveys.releasing.words import KINDS, KindWords, name_request


@dataclass(frozen=True, kw_only=True)
class KindChoice:
    """One kind of release on the overview; `cost` is the ε that its form suggests."""

    kind: ReleaseKind
    words: KindWords
    is_possible: bool
    cost: int


def suggest_epsilon(kind: ReleaseKind, *, left: int) -> int:
    """Suggest an ε in hundredths that leaves some for other releases."""
    return max(1, min(KINDS[kind].usual_hundredths, left // 2))


def list_choices(manifest: Manifest, *, left: int) -> list[KindChoice]:
    return [
        KindChoice(
            kind=kind,
            words=words,
            is_possible=bool(list_candidates(manifest, kind)),
            cost=suggest_epsilon(kind, left=left),
        )
        for kind, words in KINDS.items()
        if kind in OFFERED
    ]


def name_release(manifest: Manifest, release: Release) -> str:
    return name_request(manifest, ReleaseRequest.from_json(release.request))
