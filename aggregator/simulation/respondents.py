"""Synthetic respondents, who follow the survey's rules and randomize as the browser does.

This is the Python version of the respondent's page (client/report/, client/randomize.js), for the
demo, rehearsals and tests. A respondent is a set of answers to all questions. The answers to
questions that are not asked or not drawn are left out, as in a browser.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from privacy.mechanism.drawing import draw_blocks, round_to_bit, secure_uint32
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.questions import ANSWERED, ManifestQuestion, Symbol
from surveys.manifest.rules import holds

# A code, a number, the chosen items of a "select several", or None for "prefer not to say". For a
# score, its answer or the position of the chosen answer for each item.
Answer = int | Collection[int] | None
Answers = Mapping[str, Answer]


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """One respondent's randomized report, which reveals nothing about the answers."""

    report_id: bytes
    symbols: bytes


def seal(
    manifest: Manifest, answers: Answers, *, random_uint32: Callable[[], int] = secure_uint32
) -> Envelope:
    """Draw a respondent's report once."""
    return Envelope(
        report_id=secrets.token_bytes(32),
        symbols=randomize_answers(manifest, answers, random_uint32=random_uint32),
    )


def randomize_answers(
    manifest: Manifest, answers: Answers, *, random_uint32: Callable[[], int] = secure_uint32
) -> bytes:
    """Return one code for each symbol, in wire order, with NOT_DRAWN for blocks left out."""
    drawn: Collection[int | None] | None = None
    if manifest.drawn is not None:
        blocks = draw_blocks(
            manifest.block_count, drawn=manifest.drawn, random_uint32=random_uint32
        )
        drawn = {None, *blocks}
    asked = find_asked(manifest, answers, drawn=drawn)
    questions = {question.name: question for question in manifest.questions}
    sent = bytearray()
    for symbol in manifest.symbols:
        if drawn is not None and symbol.block not in drawn:
            sent.append(NOT_DRAWN)
            continue
        question = questions[symbol.question]
        code = find_code(symbol, question, asked, answers, random_uint32=random_uint32)
        if symbol.threshold is not None:
            code = symbol.mechanism.randomize(code, random_uint32=random_uint32)
        sent.append(code)
    return bytes(sent)


def find_asked(
    manifest: Manifest, answers: Answers, *, drawn: Collection[int | None] | None = None
) -> frozenset[str]:
    """Return the names of the questions that are asked; `drawn` is None if all blocks are asked."""
    asked: set[str] = set()
    codes: dict[str, int | None] = {}
    for question in manifest.questions:
        # An information text counts as shown with the questions that its rule names.
        tied = (question.name, *manifest.parents_of(question))
        if drawn is not None and not all(manifest.blocks.get(name) in drawn for name in tied):
            continue
        if question.rule is not None and not holds(question.rule, codes):
            continue
        asked.add(question.name)
        codes |= _codes_for_rules(question, _find_answer(question, answers))
    return frozenset(asked)


def _find_answer(question: ManifestQuestion, answers: Answers) -> Answer:
    answer = answers.get(question.name)
    if question.is_second and question.name not in answers:
        answer = answers.get(question.scale)  # answers to its items, or a refusal
        if isinstance(answer, int):
            raise ValueError(f"{question.name} needs answers to the items of {question.scale}")
    if question.score is None or answer is None or isinstance(answer, int):
        return answer
    return question.score.find_answer(list(answer))


def _codes_for_rules(question: ManifestQuestion, answer: Answer) -> dict[str, int | None]:
    if answer is None or question.is_rounded or not question.is_answered:
        return {}
    if question.has_items:
        assert not isinstance(answer, int)
        return {question.item_name(o.code): int(o.code in answer) for o in question.options}
    assert isinstance(answer, int)
    return {question.name: answer}


def find_code(
    symbol: Symbol,
    question: ManifestQuestion,
    asked: Collection[str],
    answers: Answers,
    *,
    random_uint32: Callable[[], int] = secure_uint32,
) -> int:
    """Return the true code of a symbol; a number is first rounded, which always takes one draw."""
    answer = _find_answer(question, answers) if question.name in asked else None
    missing = None
    if question.name not in asked:
        missing = question.not_asked_code
    elif answer is None:
        missing = question.refused_code
        if missing is None:
            raise ValueError(f"{question.name} must be answered: it offers no refusal")
    if question.has_items:
        return _code_of_part(symbol, question, answer, missing)
    if question.is_rounded:
        assert question.minimum is not None
        assert question.maximum is not None
        assert answer is None or isinstance(answer, int)
        bit = round_to_bit(
            question.minimum if answer is None else answer,
            minimum=question.minimum,
            maximum=question.maximum,
            random_uint32=random_uint32,
        )
        return bit if missing is None else missing
    if missing is not None:
        return missing
    assert isinstance(answer, int)
    return answer


def _code_of_part(
    symbol: Symbol, question: ManifestQuestion, answer: Answer, missing: int | None
) -> int:
    if symbol.is_gate:
        return ANSWERED if missing is None else missing
    if answer is None:
        return 0
    assert not isinstance(answer, int)
    if question.limit is not None and len(answer) > question.limit:
        raise ValueError(f"{question.name} takes {question.limit} items, got {len(answer)}")
    return int(symbol.item in answer)
