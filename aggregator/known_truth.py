"""The truth behind the demo survey, for its note and its marks; no other survey has one."""

from __future__ import annotations

from aggregator.demo import DEMO_TRUTH
from surveys.models import Survey
from surveys.templatetags.numbers import percent, whole


def known_shares(survey: Survey) -> tuple[float, ...]:
    """True shares of yes in the order of the questions; empty unless this is the demo."""
    return tuple(known.share for known in DEMO_TRUTH) if survey.demo else ()


def describe_known_truth(survey: Survey) -> str:
    """affair 32.2 % (2,053 of 6,366), unhappy marriage 22.6 % (1,440), …"""
    if not survey.demo:
        return ""
    parts = [
        f"{known.label} {percent(known.share, 1)} ({whole(known.yes)}"
        + (f" of {whole(known.total)})" if index == 0 else ")")
        for index, known in enumerate(DEMO_TRUTH)
    ]
    return ", ".join(parts)
