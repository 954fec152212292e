"""The privacy label: what scrambling means for a respondent, in plain sentences.

Every sentence is one message in the active language (surveys.manifest.languages). The survey's own
words come from the manifest. Every number comes from the question's real k and T.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import override

from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.languages import direction, language_tag
from surveys.manifest.manifest import Manifest
from surveys.respondent.label.consequences import (
    describe_consequences,
    describe_lead,
    describe_unscrambled,
    describe_warnings,
    draw_picture,
)
from surveys.respondent.label.guesses import describe_together
from surveys.respondent.label.length import describe_length
from surveys.respondent.label.odds import describe_groups
from surveys.respondent.label.parts import PrivacyLabel, Quote
from surveys.respondent.label.precision import describe_finding
from surveys.respondent.label.process import describe_process
from surveys.respondent.label.publication import list_formulas
from surveys.respondent.label.remaining import describe_crowd, describe_what_shows

__all__ = ["PrivacyLabel", "Quote", "describe_in_english", "describe_protection", "quote_label"]


def describe_protection(manifest: Manifest, *, asked_elsewhere: int = 0) -> PrivacyLabel:
    """Write the label of one survey in the active language.

    `asked_elsewhere` is how many other surveys of the author share a question with this one today.
    The label never states a smaller number than the manifest.
    """
    manifest = _without_impossible_subset(manifest)
    return PrivacyLabel(
        lead=describe_lead(manifest),
        consequences=describe_consequences(manifest),
        picture=draw_picture(manifest),
        warnings=describe_warnings(manifest, asked_elsewhere=asked_elsewhere),
        length=describe_length(manifest),
        groups=describe_groups(manifest),
        together=describe_together(manifest),
        unscrambled=describe_unscrambled(manifest),
        finding=describe_finding(manifest),
        shows=describe_what_shows(manifest),
        crowd=describe_crowd(manifest),
        process=describe_process(manifest),
        formulas=tuple(list_formulas(manifest)),
    )


def describe_in_english(manifest: Manifest) -> PrivacyLabel:
    """Write the label for results pages, which are in English."""
    with override("en"):
        return describe_protection(manifest)


def quote_label(manifest: Manifest) -> Quote | None:
    """Quote what respondents read about the whole survey; return None if nothing is scrambled."""
    if not manifest.ledger:
        return None
    coins = derive_coin_manifest(manifest)
    with override(manifest.language):
        return Quote(
            label=describe_protection(manifest),
            by_coins=describe_protection(coins)
            if coins is not None and manifest.coin_epsilon > manifest.drawn_epsilon
            else None,
            tag=language_tag(manifest.language),
            direction=direction(manifest.language),
        )


def _without_impossible_subset(manifest: Manifest) -> Manifest:
    """Remove the random subset if a draft has too few blocks."""
    if manifest.drawn is not None and manifest.drawn >= manifest.block_count:
        return replace(manifest, drawn=None)
    return manifest
