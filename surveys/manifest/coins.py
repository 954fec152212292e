"""The manifest for people who toss two coins themselves, without JavaScript or on paper.

They have a separate wave, so everyone can tell which reports came from coins. People choose the way
before they answer, so ε does not cover that choice. Their reports are estimated separately.
"""

from __future__ import annotations

from dataclasses import replace

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode


def derive_coin_manifest(manifest: Manifest) -> Manifest | None:
    """Derive the manifest for coins from the one for browsers; None if no question suits coins.

    The number of people that ends the browsers' wave ends this wave too. The number of people
    expected is that of browsers, so how many toss coins is unknown. There is no random subset:
    everyone is asked all questions. Comparisons are made of the browsers' wave.
    """
    if not manifest.coin_questions:
        return None
    coins = replace(
        manifest,
        questions=manifest.coin_questions,
        mode=Mode.MANUAL,
        coins=False,
        drawn=None,
        cap=None,
        people_expected=None,
        planned_comparisons=(),
    )
    exceeded = coins.exceeded_limits
    return replace(
        coins, acknowledged=tuple(one for one in manifest.acknowledged if one in exceeded)
    )
