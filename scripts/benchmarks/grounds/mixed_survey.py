"""Surveys with all types of questions, filled with batches of simulated reports.

Import this after Django is set up. True answers are drawn column by column, and each symbol's own
mechanism randomizes them, so that estimates, tables and snapshots resemble those of real reports.
The reports go straight into batches, packed and counted as in sealing.
"""

from __future__ import annotations

import hashlib
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accounts.models import User
from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.models import Batch
from surveys.authoring.services import add_question, launch_survey
from surveys.manifest.manifest import Limit, Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.models import Survey, Wave

BATCH = 1_000
REFUSING = 0.05  # of those asked who may decline
FLIPS = 45  # so that 50 questions stay below the largest total ε
Codes = NDArray[np.uint8]
# These are repeated until there are enough questions; the third is asked after Yes to the second.
_DECLINABLE = {"refusal": True}
_QUESTIONS: tuple[dict[str, Any], ...] = (
    {"type": QuestionType.YES_NO},
    {"type": QuestionType.YES_NO, **_DECLINABLE},
    {"type": QuestionType.NUMBER, "minimum": 0, "maximum": 30, **_DECLINABLE},
    {"type": QuestionType.CHOICE, "options": ["One", "Two", "Three", "Four", "Five"]},
    {"type": QuestionType.SCALE, "minimum": 1, "maximum": 5, **_DECLINABLE},
    {"type": QuestionType.SEVERAL, "options": ["A", "B", "C", "D"], "limit": 2, **_DECLINABLE},
    {"type": QuestionType.SCALE, "minimum": 0, "maximum": 10},
    {"type": QuestionType.FOLLOW_UP},
    {"type": QuestionType.CHOICE, "options": [f"Choice {number}" for number in range(1, 9)]},
    {"type": QuestionType.DECLARED, "options": ["North", "East", "South", "West"]},
)


def open_mixed_survey(*, owner: User, questions: int, **settings: Any) -> Wave:
    survey = Survey.objects.create_owned(owner, title=f"{questions} questions", **settings)
    parent = None
    for number, content in enumerate(islice(cycle(_QUESTIONS), questions), start=1):
        more: dict[str, Any] = {}
        if content["type"] == QuestionType.NUMBER:
            more = {"rule": {"name": str(parent), "is": [1]}}
        if content["type"] == QuestionType.FOLLOW_UP:
            more = {"follow_up": f"Did you tell anyone about number {number}?"}
        text = f"What about number {number}?"
        added = add_question(survey=survey, text=text, flips=FLIPS, **content, **more)
        parent = added.pk
    return launch_survey(survey=survey, acknowledged=set(Limit))


def fill(wave: Wave, *, reports: int, batch: int = BATCH, seed: int = 19) -> None:
    """Give an empty wave this many reports, in batches of almost equal size."""
    manifest, generator = wave.description, np.random.default_rng(seed)
    ks, tables = Columns.of(manifest).ks, list_tables(manifest)
    for number, size in enumerate(_divide(reports, batch), start=1):
        matrix = _draw_reports(manifest, size, generator)
        packed = pack_reports([row.tobytes() for row in matrix], ks=ks)
        Batch.objects.create(
            wave=wave,
            number=number,
            size=size,
            packed=packed,
            content_hash=hashlib.sha256(packed).digest(),
            counts=count_codes(packed, size=size, ks=ks),
            tables=count_tables(packed, size=size, ks=ks, tables=tables),
        )


def _divide(reports: int, batch: int) -> list[int]:
    count = -(-reports // batch)
    return [reports // count + (number < reports % count) for number in range(count)]


def _draw_reports(manifest: Manifest, size: int, generator: np.random.Generator) -> Codes:
    """Draw a row of codes for each of `size` people who answer all that they are asked."""
    answered: dict[str, Codes] = {}
    columns = []
    questions = {question.name: question for question in manifest.questions}
    state: dict[str, Codes] = {}
    for symbol in manifest.symbols:
        question = questions[symbol.question]
        if question.name not in state:
            state[question.name] = _draw_state(question, answered, size, generator)
        truth = _find_truth(symbol, question, state[question.name], generator)
        answered.setdefault(question.name, truth)
        columns.append(truth if symbol.threshold is None else _scramble(symbol, truth, generator))
    return np.stack(columns, axis=1)


_ANSWERS, _DECLINES, _NOT_ASKED = range(3)


def _draw_state(
    question: ManifestQuestion,
    answered: dict[str, Codes],
    size: int,
    generator: np.random.Generator,
) -> Codes:
    """Draw whether each person answers a question, declines it, or is not asked."""
    declines = question.refusal * (generator.random(size) < REFUSING)
    state = np.where(declines, _DECLINES, _ANSWERS).astype(np.uint8)
    if question.rule is not None:
        state[~np.isin(answered[question.rule["name"]], question.rule["is"])] = _NOT_ASKED
    return state


def _find_truth(
    symbol: Symbol, question: ManifestQuestion, state: Codes, generator: np.random.Generator
) -> Codes:
    """Draw the true code of each person; earlier answers are more frequent."""
    missing = {_DECLINES: question.refused_code or 0, _NOT_ASKED: question.not_asked_code or 0}
    is_item = symbol.item is not None
    answers = 1 if symbol.is_gate else question.answers
    weights = np.arange(answers, 0, -1)
    truth = generator.choice(answers, len(state), p=weights / weights.sum()).astype(np.uint8)
    for reason, code in missing.items():
        truth[state == reason] = 0 if is_item else code
    return truth


def _scramble(symbol: Symbol, truth: Codes, generator: np.random.Generator) -> Codes:
    kept = generator.random(len(truth)) < symbol.mechanism.keep_probability
    other = generator.integers(0, symbol.k - 1, len(truth), dtype=np.uint8)
    return np.where(kept, truth, other + (other >= truth)).astype(np.uint8)
