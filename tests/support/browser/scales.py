"""A survey with scores of all kinds, and how its pages are answered."""

from __future__ import annotations

from typing import Any

from surveys.models import Wave
from tests.support.browser.every_type import ask
from tests.support.factories import make_survey, open_survey

SCALE = "In the last two weeks, how often …"
ITEMS = ["did you sleep badly?", "were you calm? | reversed", "did you miss work? | ×2"]
OPTIONS = ["0 Never", "1 On some days", "3 Nearly every day"]
NEVER, SOME, OFTEN = (option.split(" ", 1)[1] for option in OPTIONS)
BANDS = ["0–4 Low", "5–8 Middle", "9–12 High"]
WORSE = "Did it get worse?"


def make_scales(**settings: Any) -> Wave:
    """Ask for a declinable total, bands, a question that depends on a band, and a cut-off."""
    survey = make_survey(title="Stress", questions=(), **settings)
    ask(survey, SCALE, type="score", **describe("Working,"), output="total", refusal=True)
    banded = ask(
        survey, "At home …", type="score", **describe("Resting,"), output="bands", options=BANDS
    )
    rule = {"name": f"{banded.pk}", "is": [1, 2]}
    ask(survey, WORSE, type="yes_no", rule=rule)
    ask(survey, "With friends …", type="score", **describe("Talking,"), output="cut_off", cut_off=6)
    return open_survey(survey=survey)


def describe(when: str) -> dict[str, list[str]]:
    """Return a scale whose items begin with these words."""
    return {"scored_items": [f"{when} {item}" for item in ITEMS], "scored_options": OPTIONS}
