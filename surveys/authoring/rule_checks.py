"""Check that the rules of a draft make sense, and that an edit does not change their meaning.

References to an earlier question about the same fact are also checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from surveys.authoring.answer_options import call_all, count_codes, find_words
from surveys.authoring.scale_lines import build_score, find_output_problem
from surveys.manifest.names import split_name
from surveys.manifest.rules import Asked, Rule, TooComplex, leaves, outcomes
from surveys.models import Question

HAS_TWO = "already has a second code. A scale has one or two codes."


@dataclass(frozen=True, kw_only=True)
class RuleProblem:
    """A problem with a rule or reference. `key` is the primary key of the question that has it."""

    key: str
    text: str


def find_rule_problems(
    questions: Sequence[Question], *, spoken: Mapping[str, str] | None = None, since: int = 0
) -> list[RuleProblem]:
    """List invalid rules and references, and say what to do about each.

    `spoken` maps keys to the names by which the author knows the questions. Callers pass it if the
    questions have already been renumbered. The first `since` questions are known to be valid.
    """
    places = {str(question.pk): place for place, question in enumerate(questions)}
    spoken = call_all(questions) if spoken is None else spoken
    problems: list[RuleProblem] = []
    earlier: list[Asked] = []
    for place, question in enumerate(questions):
        of = questions[places[str(question.same_fact)]] if _has_scale(question, places) else None
        if place < since:
            earlier.append(_as_asked(question, of))
            continue
        key = str(question.pk)
        if question.rule is not None:
            problem = _find_reference_problem(question, questions, places, spoken)
            # If an earlier rule is invalid, it is unknown which answers are possible.
            problem = problem or (
                "" if problems else _find_dead_end(spoken[key], question, earlier)
            )
            if problem:
                problems.append(_build_problem(key, problem))
        earlier.append(_as_asked(question, of))
        if problem := _find_fact_problem(question, questions, places, spoken):
            problems.append(_build_problem(key, problem))
    return problems


def _has_scale(question: Question, places: Mapping[str, int]) -> bool:
    return question.is_second and str(question.same_fact) in places


def _build_problem(key: str, text: str) -> RuleProblem:
    return RuleProblem(key=key, text=text[0].upper() + text[1:])


def _find_fact_problem(
    question: Question,
    questions: Sequence[Question],
    places: Mapping[str, int],
    spoken: Mapping[str, str],
) -> str:
    """Say why the reference to a question about the same fact is invalid, if it is."""
    if question.same_fact is None:
        return ""
    own, key = str(question.pk), str(question.same_fact)
    called = spoken[own]
    what = f"{called} asks for the same fact as"
    remedy = f"Edit {called} first."
    if question.is_second:
        what, remedy = f"{called} is a second code of", f"Delete {called} first."
    if not question.described.is_scrambled:
        return f"{what} another question, but is not scrambled itself. {remedy}"
    if key not in places:
        other = f"{spoken[key]}, which" if key in spoken else "a question that"
        return f"{what} {other} would be gone. {remedy}"
    if places[key] >= places[own]:
        return f"{what} {spoken[key]}, so {called} must come after it. {remedy}"
    if not questions[places[key]].described.is_scrambled:
        return f"{what} {spoken[key]}, which would not be scrambled. {remedy}"
    return _find_scale_problem(question, questions, places, spoken) if question.is_second else ""


def _find_scale_problem(
    question: Question,
    questions: Sequence[Question],
    places: Mapping[str, int],
    spoken: Mapping[str, str],
) -> str:
    """Say why a question cannot be the second code of its scale, or return an empty string."""
    called, named = spoken[str(question.pk)], spoken[str(question.same_fact)]
    scale = questions[places[str(question.same_fact)]]
    score = None if scale.is_second else build_score(scale)
    if score is None:
        return (
            f"{called} is a second code of {named}, which would no longer be a scale. Delete "
            f"{called} first."
        )
    others = [one for one in questions if one.is_second and one.same_fact == question.same_fact]
    if others[0] != question:
        return f"{named} {HAS_TWO}"
    if question.output == scale.output:
        return f"{called} would send the same kind of code as {named}. Choose another output."
    if problem := find_output_problem(question, scale=score):
        return (
            f"{called} is a second code of {named}, and does not fit its totals: {problem} To "
            f"change the totals, delete {called} first and add it again."
        )
    return ""


def _find_reference_problem(
    question: Question,
    questions: Sequence[Question],
    places: Mapping[str, int],
    spoken: Mapping[str, str],
) -> str:
    assert question.rule is not None
    own = str(question.pk)
    called = spoken[own]
    remedy = f"Change the rule of {called} first."
    for leaf in leaves(question.rule):
        key, item = split_name(leaf["name"])
        if key == own:
            return f"{called} cannot depend on its own answer. Change its rule."
        if key not in places:
            what = f"{spoken[key]}, which" if key in spoken else "a question that"
            return f"{called} depends on {what} would be gone. {remedy}"
        other = spoken[key]
        if places[key] > places[own]:
            return f"{called} depends on {other}, so {called} must come after it. {remedy}"
        symbols = _as_asked(questions[places[key]]).symbols
        k = symbols.get(leaf["name"], 0)
        if not all(code < k for code in leaf["is"]):
            what = f"answer {item} of {other}" if item else f"an answer to {other}"
            return f"{called} depends on {what}, which would be gone. {remedy}"
    return ""


def _find_dead_end(called: str, question: Question, earlier: Sequence[Asked]) -> str:
    assert question.rule is not None
    try:
        can_hold, can_fail = outcomes(question.rule, earlier=earlier)
    except TooComplex:
        return f"The rule of {called} is too long to check. Write a simpler one."
    if not can_hold:
        return (
            f"{called} would never be asked: no answers satisfy its rule. Change the rule or "
            "delete the question."
        )
    if not can_fail:
        return (
            f"{called} would always be asked: all answers satisfy its rule. Remove the rule, which "
            "would only make the results less precise."
        )
    return ""


def _as_asked(question: Question, scale: Question | None = None) -> Asked:
    """Describe when a question is asked. A second code is asked whenever its scale is."""
    asked = scale or question
    return Asked(
        name=str(question.pk),
        symbols=count_codes(question),
        rule=asked.rule,
        may_refuse=asked.refusal,
        at_most=question.limit,
    )


def find_meaning_problems(
    *, before: Question, after: Question, questions: Sequence[Question]
) -> list[RuleProblem]:
    """List the rules that would silently refer to a different answer after an edit.

    Rules refer to codes, not to words. An author may reword an answer, but an answer that moves to
    another line gets a different code.
    """
    old, new = find_words(before), find_words(after)
    problems = []
    spoken = call_all(questions)
    for question in questions:
        if question.rule is None or question.pk == before.pk:
            continue
        for name, code in _named_answers(question.rule, str(before.pk)):
            was, becomes = old.get((name, code), ""), new.get((name, code), "")
            reworded = was not in new.values() and becomes not in old.values()
            if before.type == after.type and (was == becomes or reworded):
                continue
            called = spoken[str(question.pk)]
            problems.append(
                _build_problem(
                    str(question.pk),
                    f"{called} depends on the answer “{was}” to this question, which would become "
                    f"a different answer. Change the rule of {called} first.",
                )
            )
            break
    return problems


def _named_answers(rule: Rule, key: str) -> Iterator[tuple[str, int]]:
    for leaf in leaves(rule):
        if split_name(leaf["name"])[0] == key:
            for code in leaf["is"]:
                yield leaf["name"], code
