"""Count the reports that have the same code in two questions, as input for key drivers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import cross_tabulate
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest

Pair = tuple[str, str]  # names of questions, sorted because agreement has no direction


def list_pairs(requests: Iterable[ReleaseRequest]) -> list[Pair]:
    """List the distinct pairs of an outcome and a predictor that key drivers need."""
    return list(
        dict.fromkeys(
            name_pair(request.questions[0], predictor)
            for request in requests
            if request.kind == ReleaseKind.KEY_DRIVER
            for predictor in request.questions[1:]
        )
    )


def name_pair(first: str, second: str) -> Pair:
    return (first, second) if first < second else (second, first)


def count_agreeing(
    packed: bytes, *, size: int, manifest: Manifest, pairs: Sequence[Pair]
) -> list[int]:
    """Count the reports of one batch that have the same code in both questions of each pair."""
    columns = Columns.of(manifest)
    names = [symbol.name for symbol in manifest.symbols]
    places = dict(zip(names, columns.places, strict=True))
    return [
        int(
            cross_tabulate(
                packed, size=size, ks=columns.ks, columns=[places[first], places[second]]
            ).trace()
        )
        for first, second in pairs
    ]
