"""Answer a survey with synthetic respondents, whose answers are randomized as in the browser.

Each respondent's report is drawn once, with the Python version of the browser's randomizer. It is
kept as an envelope until all reports are acknowledged, so an interrupted run continues with the
same bytes. The workers seal reports, estimate shares and close the survey as usual.
"""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from accounts.models import User
from aggregator.intake.wire import encode_report
from aggregator.simulation.demo_surveys import DEMOS, OPEN, Demo
from aggregator.simulation.respondents import Answers, Envelope, seal
from privacy.mechanism.drawing import secure_uint32
from surveys.authoring.services import (
    create_survey,
    launch_survey,
    plan_comparison,
    plan_release,
)
from surveys.manifest.manifest import Manifest
from surveys.models import Role, Survey, Wave


def demo_of(survey: Survey) -> Demo | None:
    """Return the demo that a survey belongs to, or None for other surveys."""
    if not survey.demo:
        return None
    return next((demo for demo in DEMOS if demo.title == survey.title), None)


def is_invented(survey: Survey) -> bool:
    """Return whether a program sends all answers; only people answer the demo that stays open."""
    demo = demo_of(survey)
    return survey.rehearsal or (demo is not None and demo is not OPEN)


def find_open_demo(*, now: datetime) -> Survey | None:
    """Return the demo that anyone may answer, if one is accepting reports."""
    waves = Wave.objects.open().electronic().filter(survey__demo=True, survey__title=OPEN.title)
    newest = waves.select_related("survey").order_by("-pk").first()
    return newest.survey if newest is not None and newest.accepts_at(now) else None


def field_demo(demo: Demo, *, owner: User) -> Wave:
    """Return the demo's wave; launch it if it has not been launched before."""
    owned = Survey.objects.filter(memberships__account=owner, memberships__role=Role.OWNER)
    survey = owned.filter(demo=True, title=demo.title).first()
    if survey is None:
        survey = create_survey(
            owner=owner,
            title=demo.title,
            introduction=demo.introduction,
            demo=True,
            **demo.settings,
        )
        demo.add_questions(survey)
        for pair in demo.planned:
            plan_comparison(survey=survey, names=pair)
        for release in demo.releases:
            plan_release(survey=survey, request=release)
    return survey.find_wave() or launch_survey(survey=survey)


def draw_envelopes(
    manifest: Manifest,
    people: Sequence[Answers],
    *,
    random_uint32: Callable[[], int] = secure_uint32,
) -> list[Envelope]:
    """Randomize every respondent's answers once, and keep only the reports."""
    envelopes = [seal(manifest, answers, random_uint32=random_uint32) for answers in people]
    # The people were made group by group, but real people do not arrive in that order.
    random.SystemRandom().shuffle(envelopes)
    return envelopes


def load_or_draw_envelopes(
    *, wave: Wave, people: Callable[[], Sequence[Answers]], path: Path
) -> list[Envelope]:
    """Read the wave's envelopes from the file, or draw and store them."""
    if path.exists():
        content = json.loads(path.read_text())
        if content["manifest"] == wave.manifest_hash_hex:
            return [
                Envelope(report_id=base64.b64decode(i), symbols=base64.b64decode(s))
                for i, s in content["envelopes"]
            ]
    envelopes = draw_envelopes(wave.description, people())
    store_envelopes(envelopes, wave=wave, path=path)
    return envelopes


def store_envelopes(envelopes: Sequence[Envelope], *, wave: Wave, path: Path) -> None:
    rows = [
        [base64.b64encode(e.report_id).decode(), base64.b64encode(e.symbols).decode()]
        for e in envelopes
    ]
    content = {"manifest": wave.manifest_hash_hex, "envelopes": rows}
    _write_durably(path, json.dumps(content))


def _write_durably(path: Path, text: str) -> None:
    """Store a file completely or not at all, even if there is a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def encode_envelopes(*, wave: Wave, envelopes: Sequence[Envelope]) -> list[bytes]:
    return [
        encode_report(
            manifest_hash=bytes(wave.manifest_hash), report_id=e.report_id, symbols=e.symbols
        )
        for e in envelopes
    ]
