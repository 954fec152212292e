"""The privacy label: what a respondent reads before the first question, in plain sentences.

Every sentence is one message in the language that is active (surveys.manifest.languages); the
words of the survey come from the manifest. Every number comes from the question's real k and T.
"""

from __future__ import annotations

from dataclasses import replace

from surveys.manifest.manifest import Manifest
from surveys.respondent.label.names import describe_length
from surveys.respondent.label.odds import (
    describe_together,
    equivalent_flips,
    is_light_anywhere,
)
from surveys.respondent.label.parts import Odds, PrivacyLabel, Row
from surveys.respondent.label.process import describe_process
from surveys.respondent.label.rows import describe_rows

__all__ = [
    "Odds",
    "PrivacyLabel",
    "Row",
    "describe_protection",
    "equivalent_flips",
    "is_light_anywhere",
]


def describe_protection(manifest: Manifest) -> PrivacyLabel:
    """Write the label of one survey, in the language that is active."""
    if manifest.drawn is not None and manifest.drawn >= manifest.block_count:
        manifest = replace(manifest, drawn=None)  # a draft that cannot be launched yet
    return PrivacyLabel(
        rows=describe_rows(manifest),
        process=describe_process(manifest),
        together=describe_together(manifest),
        length=describe_length(manifest),
    )
