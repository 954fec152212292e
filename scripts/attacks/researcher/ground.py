"""A Murmur without servers: an ordinary account's surveys, people who answer, and workers.

Reports go through the intake's own code. This process also does the work of beat and workers, so
that thousands of fakes take seconds. Limits per network are left out: they slow an attacker, but do
not stop one with enough networks.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from aggregator.background.rows_files import make_rows_file
from aggregator.batches.closing import close_due_waves
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import run_comparison
from aggregator.comparisons.planned import request_planned
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import Upload
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.due import Due, WorkKind, find_due_work
from surveys.authoring.services import add_question, launch_survey
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import NOT_DRAWN, Limit, find_crowd
from surveys.models import Question, Survey, Wave

ID_BYTES = 32
MOST_ROUNDS = 100


@dataclass(frozen=True, kw_only=True)
class Design:
    """A survey as its author sets it up for the attack."""

    minimum_batch: int
    display_minimum: int
    questions: int = 24  # yes/no questions; everyone gets all, unless some are drawn
    flips: int = 45  # of 100 people
    groups: Sequence[int] = ()  # the number of options of each declared question, which come first
    cap: int | None = None
    drawn: int | None = None
    coins: bool = False

    @property
    def crowd(self) -> int:
        return find_crowd(minimum_batch=self.minimum_batch, display_minimum=self.display_minimum)


def open_survey(owner: User, design: Design) -> Wave:
    survey = Survey.objects.create_owned(
        owner,
        title="Working conditions",
        minimum_batch=design.minimum_batch,
        display_minimum=design.display_minimum,
        cap=design.cap,
        drawn=design.drawn,
        coins=design.coins,
    )
    for number, size in enumerate(design.groups, start=1):
        options = [f"Group {option}" for option in range(1, size + 1)]
        declared = Question.Type.DECLARED
        add_question(survey=survey, text=f"List {number}", type=declared, options=options)
    for number in range(1, design.questions + 1):
        add_question(survey=survey, text=f"Statement {number}", flips=design.flips)
    survey.questions.update(name="")  # the attacks know questions by their numbers
    return launch_survey(survey=survey, acknowledged=set(Limit))


def draw_codes(design: Design, *, generator: random.Random) -> bytes:
    """Draw the codes of one person. The true answers play no part in the attacks."""
    asked = set(range(design.questions))
    if design.drawn is not None:
        asked = set(generator.sample(range(design.questions), design.drawn))
    declared = bytes(generator.randrange(size) for size in design.groups)
    return declared + bytes(
        generator.getrandbits(1) if place in asked else NOT_DRAWN
        for place in range(design.questions)
    )


def send(wave: Wave, rows: Sequence[bytes], *, beginning: bytes = b"") -> None:
    """Send reports whose ids begin with these bytes; the client chooses the ids."""
    manifest_hash = bytes(wave.manifest_hash)
    uploads = [
        Upload(
            manifest_hash=manifest_hash,
            report_id=beginning + secrets.token_bytes(ID_BYTES - len(beginning)),
            symbols=symbols,
        )
        for symbols in rows
    ]
    for outcome in record_reports(uploads) if uploads else ():
        if outcome is not Outcome.RECORDED:
            raise AssertionError(outcome)


def work() -> None:
    """Do all work that is due. Charts are left out, because they only show the newest snapshot."""
    for _ in range(MOST_ROUNDS):
        closed = close_due_waves()
        due = [item for item in find_due_work() if item.kind is not WorkKind.RENDER]
        if not (due or closed):
            return
        for item in due:
            _do(item)
    raise AssertionError(f"still due: {due}")


def close(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    work()


def _do(item: Due) -> Any:
    if item.kind is WorkKind.SEAL:
        return seal_next_batch(wave_id=item.subject)
    if item.kind is WorkKind.ESTIMATE:
        return update_snapshot(wave_id=item.subject)
    if item.kind is WorkKind.ROWS:
        return make_rows_file(wave_id=item.subject)
    if item.kind is WorkKind.PLAN:
        return request_planned(wave_id=item.subject)
    return run_comparison(comparison_id=item.subject)
