"""The whole numbers that noise is added to, or that an answer is chosen by.

Everything is a whole number until after the draw: sums of floats depend on their order, and one
report then changes them by more than it seems.
"""

from __future__ import annotations

from collections.abc import Sequence

from aggregator.batches.columns import Columns
from aggregator.models import Snapshot
from aggregator.releases.requests import find_other_probability, list_symbols
from aggregator.results.estimands import YES
from privacy.central.typical import scaled_scores
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion


def table_cells(
    snapshot: Snapshot, manifest: Manifest, questions: Sequence[str]
) -> dict[str, list[int]]:
    """Return how often each code was sent, for every symbol of these questions.

    One report more adds 1 to one cell of each symbol that it has.
    """
    counts = _counts_by_symbol(snapshot, manifest)
    return {symbol.name: counts[symbol.name] for symbol in list_symbols(manifest, questions)}


def leader_scores(
    snapshot: Snapshot, manifest: Manifest, question: ManifestQuestion
) -> dict[int, int]:
    """Return how many reports name each option, by its code.

    One report more adds at most 1 to each, and takes nothing from any: the scores are monotone.
    """
    counts = _counts_by_symbol(snapshot, manifest)
    if question.has_items:
        return {
            option.code: counts[question.item_name(option.code)][YES] for option in question.options
        }
    return {option.code: counts[question.name][option.code] for option in question.options}


def typical_scores(
    snapshot: Snapshot, manifest: Manifest, question: ManifestQuestion
) -> dict[int, int]:
    """Return how close each point of a scale is to the middle of all answers, by its code.

    One report more changes no score by more than `privacy.central.typical.scaled_sensitivity`.
    """
    counts = _counts_by_symbol(snapshot, manifest)[question.name]
    points = question.answers
    scores = scaled_scores(
        counts[:points],
        other_probability=find_other_probability(question),
        others=sum(counts[points:]),
    )
    return dict(enumerate(scores))


def _counts_by_symbol(snapshot: Snapshot, manifest: Manifest) -> dict[str, list[int]]:
    counts = Columns.of(manifest).read_counts(snapshot.counts)
    return {symbol.name: cells for symbol, cells in zip(manifest.symbols, counts, strict=True)}
