"""What the waves that reports name demand of them, and what stands in a report's way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aggregator import problems
from aggregator.intake.errors import IntakeError, NotNow, Refused
from aggregator.intake.wire import Upload
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Wave

logger = logging.getLogger(__name__)
MANIFEST_RETRY_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a launched manifest says for good."""

    opens_at: datetime | None
    closes_at: datetime | None
    options: tuple[int, ...]  # how many codes each symbol has
    blocks: tuple[int | None, ...]  # of each symbol; None for what everybody is asked
    drawn: int | None  # blocks that each person is asked


# A launched wave never changes but for its state, so this never grows old.
_terms: dict[bytes, Terms] = {}


def find_terms(hashes: set[bytes]) -> dict[bytes, Terms | NotNow]:
    """Return the terms of the waves with these manifests; what no wave has is left out.

    A manifest that this process cannot read, because a newer version of Murmur wrote it, keeps
    its own reports waiting and nobody else's.
    """
    found: dict[bytes, Terms | NotNow] = {}
    for manifest_hash in hashes:
        try:
            found.update(_read_terms({manifest_hash}))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            logger.error("intake cannot read a manifest: %s", type(error).__name__)
            found[manifest_hash] = NotNow(
                problems.UNAVAILABLE,
                "This server cannot read the survey yet. Send the same bytes again later.",
                retry_after=MANIFEST_RETRY_SECONDS,
            )
    return found


def _read_terms(hashes: set[bytes]) -> dict[bytes, Terms]:
    unknown = hashes - _terms.keys()
    if unknown:
        for wave in Wave.objects.filter(manifest_hash__in=unknown):
            manifest = wave.description
            _terms[bytes(wave.manifest_hash)] = Terms(
                opens_at=wave.opens_at,
                closes_at=wave.closes_at,
                options=tuple(symbol.k for symbol in manifest.symbols),
                blocks=tuple(symbol.block for symbol in manifest.symbols),
                drawn=manifest.drawn,
            )
    return {manifest_hash: _terms[manifest_hash] for manifest_hash in hashes & _terms.keys()}


def find_obstacle(
    upload: Upload, *, terms: Terms | NotNow | None, now: datetime
) -> IntakeError | None:
    """Say why a new report would not be taken even if its wave is open; None if it is welcome."""
    if isinstance(terms, NotNow):
        return terms
    if terms is None:
        return Refused(
            problems.UNKNOWN_MANIFEST,
            "No survey has this manifest. Load the page again to get the current one.",
        )
    if terms.closes_at is not None and now >= terms.closes_at:
        return refuse_as_closed()
    if terms.opens_at is not None and now < terms.opens_at:
        return NotNow(
            problems.WAVE_NOT_OPEN_YET,
            "This survey is not open yet.",
            retry_after=min(3600, max(1, int((terms.opens_at - now).total_seconds()) + 1)),
        )
    return _find_misfit(upload.symbols, terms)


def refuse_as_closed() -> Refused:
    return Refused(problems.WAVE_CLOSED, "This survey is closed and takes no more reports.")


def _find_misfit(symbols: bytes, terms: Terms) -> IntakeError | None:
    if len(symbols) != len(terms.options):
        return Refused(
            problems.WRONG_LENGTH,
            f"This survey has {len(terms.options)} symbols, the report has {len(symbols)}.",
        )
    missing = NOT_DRAWN in symbols
    if missing and terms.drawn is None:
        return Refused(problems.SYMBOL_OUT_OF_RANGE, "This survey asks every question of everyone.")
    for number, (code, k) in enumerate(zip(symbols, terms.options, strict=True), 1):
        if code >= k and code != NOT_DRAWN:
            return Refused(
                problems.SYMBOL_OUT_OF_RANGE,
                f"Symbol {number} must be one of the first {k} of the alphabet.",
            )
    if terms.drawn is not None and not _is_a_draw(symbols, terms.blocks, drawn=terms.drawn):
        return Refused(
            problems.SYMBOL_OUT_OF_RANGE,
            f"A report answers {terms.drawn} whole blocks of questions and has ~ for all others.",
        )
    return None


def _is_a_draw(symbols: bytes, blocks: Sequence[int | None], *, drawn: int) -> bool:
    """Whether exactly so many blocks are there, each as a whole, and what is in none."""
    there: set[int | None] = set()
    missing: set[int | None] = set()
    for code, block in zip(symbols, blocks, strict=True):
        (missing if code == NOT_DRAWN else there).add(block)
    there.discard(None)
    return len(there) == drawn and None not in missing and not there & missing
