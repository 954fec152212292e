"""The demo: 6,366 respondents of a published survey, each randomized as in the browser.

Every respondent's codes are drawn once with the Python twin of the browser's randomizer and
kept as envelopes until all are acknowledged, so an interrupted demo goes on with the same
bytes. Sealing, estimating and closing are left to the workers.

Source of the counts: the Redbook survey of 1974 as published with R. C. Fair, A Theory of
Extramarital Affairs, Journal of Political Economy 86(1), 1978, pp. 45-61.
"""

from __future__ import annotations

import base64
import json
import os
import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accounts.models import User
from aggregator.intake.wire import encode_report
from privacy.mechanisms import RandomizedResponse, secure_uint32
from surveys.manifest import parse_manifest
from surveys.models import Survey, Wave
from surveys.services import add_question, create_survey, launch_survey

# (affair, unhappy, religious, children) → number of women. Unhappy: marriage rated 3 or less
# of 5; religious: 3 or more of 4; children: any.
REDBOOK_COUNTS: dict[tuple[int, int, int, int], int] = {
    (0, 0, 0, 0): 906,
    (0, 0, 0, 1): 832,
    (0, 0, 1, 0): 822,
    (0, 0, 1, 1): 1155,
    (0, 1, 0, 0): 119,
    (0, 1, 0, 1): 204,
    (0, 1, 1, 0): 65,
    (0, 1, 1, 1): 210,
    (1, 0, 0, 0): 216,
    (1, 0, 0, 1): 499,
    (1, 0, 1, 0): 108,
    (1, 0, 1, 1): 388,
    (1, 1, 0, 0): 128,
    (1, 1, 0, 1): 384,
    (1, 1, 1, 0): 50,
    (1, 1, 1, 1): 280,
}
PEOPLE = sum(REDBOOK_COUNTS.values())
TITLE = "Married life"
INTRODUCTION = (
    "Four short questions about married life. They were asked of 6,366 women in 1974; here their "
    "replies are given once more, through a page that scrambles them."
)


@dataclass(frozen=True, kw_only=True)
class KnownShare:
    """How many of all respondents would truthfully say yes."""

    label: str
    question: str
    yes: int
    total: int = PEOPLE

    @property
    def share(self) -> float:
        return self.yes / self.total


def _known(index: int, label: str, question: str) -> KnownShare:
    yes = sum(count for person, count in REDBOOK_COUNTS.items() if person[index])
    return KnownShare(label=label, question=question, yes=yes)


# In the order of the demo's questions.
DEMO_TRUTH = (
    _known(0, "affair", "While you were married, did you ever have an affair?"),
    _known(1, "unhappy marriage", "Would you call your marriage less than happy?"),
    _known(2, "religious", "Are you religious?"),
    _known(3, "has children", "Do you have children?"),
)


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """One respondent's sealed report: nothing in it tells what she said."""

    report_id: bytes
    symbols: bytes


def find_demo(*, owner: User) -> Survey | None:
    return Survey.objects.owned_by(owner).filter(demo=True).first()


def field_demo(*, owner: User) -> Wave:
    """Return the demo's wave, launched now unless it was before."""
    survey = find_demo(owner=owner)
    if survey is None:
        survey = create_survey(
            owner=owner, title=TITLE, introduction=INTRODUCTION, cap=PEOPLE, demo=True
        )
        for known in DEMO_TRUTH:
            add_question(survey=survey, text=known.question)
    return survey.wave or launch_survey(survey=survey)


def draw_envelopes(
    *,
    mechanisms: Sequence[RandomizedResponse],
    random_uint32: Callable[[], int] = secure_uint32,
) -> list[Envelope]:
    """Randomize every respondent once; what she would say is dropped on the way."""
    envelopes = [
        Envelope(
            report_id=secrets.token_bytes(32),
            symbols=bytes(
                mechanism.randomize(said, random_uint32=random_uint32)
                for said, mechanism in zip(person, mechanisms, strict=True)
            ),
        )
        for person, count in REDBOOK_COUNTS.items()
        for _ in range(count)
    ]
    # They were made group by group; nobody comes in that order.
    random.SystemRandom().shuffle(envelopes)
    return envelopes


def load_or_draw_envelopes(*, wave: Wave, path: Path) -> list[Envelope]:
    """Read the wave's envelopes from the file, or draw them and store them first."""
    if path.exists():
        content = json.loads(path.read_text())
        if content["manifest"] == wave.manifest_hash_hex:
            return [
                Envelope(report_id=base64.b64decode(i), symbols=base64.b64decode(s))
                for i, s in content["envelopes"]
            ]
    questions = parse_manifest(bytes(wave.manifest)).questions
    envelopes = draw_envelopes(mechanisms=[question.mechanism for question in questions])
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
    """Store before the first try: whole or not at all, also over a crash."""
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
