"""The chance that a published leader really leads, from exact counts: for the researcher only."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.models import Release, Snapshot
from aggregator.publishing.words import find_questions
from aggregator.releases.queries import leader_scores, table_cells
from privacy.central.leading import leader_chances
from surveys.formatting import percent
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class Chance:
    """That the published answer is the true leader, and the answer for which it is largest."""

    published: str
    best: str
    best_text: str
    is_published_best: bool


def find_chance(release: Release) -> Chance | None:
    """Compute it from the counts that the release was drawn from; None if it is no leader."""
    if release.kind != Release.Kind.LEADER or release.result is None:
        return None
    snapshot = Snapshot.objects.filter(
        wave=release.wave, through_batch=release.through_batch
    ).first()
    if snapshot is None:
        return None
    manifest = release.wave.description
    (question,) = find_questions(manifest, release)
    scores = leader_scores(snapshot, manifest, question)
    cells = table_cells(snapshot, manifest, [question.name])
    total = sum(cells[_first_symbol(question)])
    if len(scores) < 2 or not total:
        return None
    found = leader_chances(
        list(scores.values()), total=total, exclusive=not question.has_items
    ).tolist()
    chances = dict(zip(scores, found, strict=True))
    best = max(chances, key=lambda code: chances[code])
    code = release.result["code"]
    return Chance(
        published=write_chance(chances[code]),
        best=write_chance(chances[best]),
        best_text=next(one.text for one in question.options if one.code == best),
        is_published_best=best == code,
    )


def write_chance(chance: float) -> str:
    """Write whole per cent, but never 0 % or 100 %: draws cannot be that sure."""
    if chance < 0.01:
        return "less than 1\N{NO-BREAK SPACE}%"
    return "more than 99\N{NO-BREAK SPACE}%" if chance > 0.99 else percent(chance)


def _first_symbol(question: ManifestQuestion) -> str:
    return question.item_name(question.options[0].code) if question.has_items else question.name
