"""The truth behind the demo's surveys, for their notes and marks; no other survey has one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from aggregator.results.sentences import EMPTY
from aggregator.simulation.demo import demo_of
from aggregator.simulation.demo_surveys import DEMOS
from aggregator.simulation.truth import find_truths
from surveys.manifest.manifest import parse_manifest
from surveys.models import Survey


def known_truths(survey: Survey) -> Mapping[str, float]:
    """True values by estimand ("q1 1"); empty unless this is a demo."""
    demo = demo_of(survey)
    wave = survey.wave if demo else None
    return EMPTY if demo is None or wave is None else _find(demo.key, bytes(wave.manifest))


@lru_cache(maxsize=len(DEMOS))
def _find(key: str, manifest: bytes) -> Mapping[str, float]:
    (demo,) = (demo for demo in DEMOS if demo.key == key)
    return find_truths(parse_manifest(manifest), demo.people())


def describe_known_truth(survey: Survey) -> str:
    """Say where the known truth is from; empty for all other surveys."""
    demo = demo_of(survey)
    return demo.note if demo else ""
