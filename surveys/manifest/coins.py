"""The manifest for people who toss two coins themselves, without JavaScript or on paper.

These people have a separate wave, so anyone can tell which reports came from coins. People choose
between browser and coins before they answer, so ε does not cover that choice. The reports of the
two waves are estimated separately.
"""

from __future__ import annotations

from dataclasses import replace

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode


def derive_coin_manifest(manifest: Manifest) -> Manifest | None:
    """Derive the coins' manifest from the browsers', or return None if no question allows coins.

    The coins' wave has no cap, because it closes with the browsers' wave. The wave has no expected
    number of people, because the author's number is about browsers. Everyone is asked all questions
    of this wave, one after the other, even if browsers draw a random subset. Comparisons and
    planned releases use only the browsers' wave.
    """
    if not manifest.coin_questions:
        return None
    coins = replace(
        manifest,
        questions=tuple(replace(one, together=False) for one in manifest.coin_questions),
        mode=Mode.MANUAL,
        coins=False,
        drawn=None,
        cap=None,
        people_expected=None,
        planned_comparisons=(),
        planned_releases=None if manifest.planned_releases is None else (),
    )
    exceeded = coins.exceeded_limits
    return replace(
        coins, acknowledged=tuple(one for one in manifest.acknowledged if one in exceeded)
    )
