"""Describes what a strength would mean for a question in its survey."""

from __future__ import annotations

from dataclasses import replace

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, with_strength
from surveys.manifest.strength import Strength, describe_strength


def describe_strength_for(manifest: Manifest, question: ManifestQuestion, flips: int) -> Strength:
    """Describe a strength for this question, with its rows and any questions that depend on it.

    A single row may be better protected than the whole question.
    """
    changed = with_strength(question, flips=flips)
    others = (changed if each.name == question.name else each for each in manifest.questions)
    statement = replace(manifest, questions=tuple(others)).statement_epsilon(changed)
    return describe_strength(flips, symbols=question.k, statement=statement)
