"""What is asked of those who toss two coins themselves: without scripts, or on paper.

They are a stratum with a manifest of its own. How they answer is known (it is a wave of its
own) and chosen before answering, so it is outside of ε; their reports are estimated apart.
"""

from __future__ import annotations

from dataclasses import replace

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode


def derive_coin_manifest(manifest: Manifest) -> Manifest | None:
    """Say what would be frozen beside the browsers' manifest; None if nothing is asked this way.

    The number of people that ends the browsers' wave ends this one with it. Nothing is drawn at
    random here: everybody is asked all of it.
    """
    if not manifest.coin_questions:
        return None
    return replace(
        manifest,
        questions=manifest.coin_questions,
        mode=Mode.MANUAL,
        coins=False,
        drawn=None,
        cap=None,
    )
