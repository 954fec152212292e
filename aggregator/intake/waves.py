"""Find what each wave requires of its reports, and why a report is refused."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aggregator import problems
from aggregator.intake.errors import IntakeError, Refused, RetryLater
from aggregator.intake.wire import Upload
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Wave

logger = logging.getLogger(__name__)
MANIFEST_RETRY_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms that a launched manifest fixes."""

    opens_at: datetime | None
    closes_at: datetime | None
    options: tuple[int, ...]  # number of codes of each symbol
    blocks: tuple[int | None, ...]  # of each symbol; None if everyone is asked
    drawn: int | None  # number of blocks that each person is asked
    # Whether no reply may depend on the number of reports (Publication.PROTECTED).
    hides_seals: bool


# Only the state of a launched wave changes, so terms never become stale.
_terms: dict[bytes, Terms] = {}


def find_terms(hashes: set[bytes]) -> dict[bytes, Terms | RetryLater]:
    """Return the terms of the waves with these manifests; unknown manifests are left out.

    If this process cannot read a manifest, because a newer version of Murmur wrote it, only the
    reports for that manifest have to wait.
    """
    all_terms: dict[bytes, Terms | RetryLater] = {}
    for manifest_hash in hashes:
        try:
            all_terms.update(_read_terms({manifest_hash}))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            logger.error("intake cannot read a manifest: %s", type(error).__name__)
            all_terms[manifest_hash] = RetryLater(
                problems.UNAVAILABLE,
                "This server cannot read the survey yet. Send the same bytes again later.",
                retry_after=MANIFEST_RETRY_SECONDS,
            )
    return all_terms


def _read_terms(hashes: set[bytes]) -> dict[bytes, Terms]:
    unknown = hashes - _terms.keys()
    if unknown:
        for wave in Wave.objects.filter(manifest_hash__in=unknown):
            manifest = wave.description
            _terms[bytes(wave.manifest_hash)] = Terms(
                opens_at=wave.opens_at,
                closes_at=wave.ends_at,
                options=tuple(symbol.k for symbol in manifest.symbols),
                blocks=tuple(symbol.block for symbol in manifest.symbols),
                drawn=manifest.drawn,
                hides_seals=manifest.publishes_releases,
            )
    return {manifest_hash: _terms[manifest_hash] for manifest_hash in hashes & _terms.keys()}


def find_refusal(
    upload: Upload, *, terms: Terms | RetryLater | None, now: datetime
) -> IntakeError | None:
    """Say why a new report is refused even if its wave is open; return None if it is accepted."""
    if isinstance(terms, RetryLater):
        return terms
    if terms is None:
        return Refused(
            problems.UNKNOWN_MANIFEST,
            "No survey has this manifest. Reload the page to get the current one.",
        )
    if terms.closes_at is not None and now >= terms.closes_at:
        return refused_as_closed()
    if terms.opens_at is not None and now < terms.opens_at:
        return RetryLater(
            problems.WAVE_NOT_OPEN_YET,
            "This survey is not open yet.",
            retry_after=min(3600, max(1, int((terms.opens_at - now).total_seconds()) + 1)),
        )
    return _check_symbols(upload.symbols, terms)


def refused_as_closed() -> Refused:
    return Refused(problems.WAVE_CLOSED, "This survey is closed and accepts no more reports.")


def refused_as_deleted() -> Refused:
    return Refused(problems.SURVEY_DELETED, "This survey has been deleted with all its reports.")


def _check_symbols(symbols: bytes, terms: Terms) -> IntakeError | None:
    if len(symbols) != len(terms.options):
        return Refused(
            problems.WRONG_LENGTH,
            f"This survey has {len(terms.options)} symbols, but the report has {len(symbols)}.",
        )
    missing = NOT_DRAWN in symbols
    if missing and terms.drawn is None:
        return Refused(problems.SYMBOL_OUT_OF_RANGE, "This survey asks everyone every question.")
    for number, (code, k) in enumerate(zip(symbols, terms.options, strict=True), 1):
        if code >= k and code != NOT_DRAWN:
            return Refused(
                problems.SYMBOL_OUT_OF_RANGE,
                f"Symbol {number} must be one of the first {k} of the alphabet.",
            )
    if terms.drawn is not None and not _is_a_draw(symbols, terms.blocks, drawn=terms.drawn):
        return Refused(
            problems.SYMBOL_OUT_OF_RANGE,
            f"A report answers {terms.drawn} complete blocks of questions, with ~ for the rest.",
        )
    return None


def _is_a_draw(symbols: bytes, blocks: Sequence[int | None], *, drawn: int) -> bool:
    """Return whether exactly `drawn` whole blocks and all symbols outside blocks were sent."""
    there: set[int | None] = set()
    missing: set[int | None] = set()
    for code, block in zip(symbols, blocks, strict=True):
        (missing if code == NOT_DRAWN else there).add(block)
    there.discard(None)
    return len(there) == drawn and None not in missing and not there & missing
