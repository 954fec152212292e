"""A draft as the manifest it would be frozen as, and whether its rules make sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext, override

from surveys.manifest.languages import hash_words, write_words
from surveys.manifest.manifest import Manifest, ManifestQuestion, Option, with_strength
from surveys.manifest.rules import Asked, Rule, TooComplex, leaves, outcomes, rename
from surveys.models import Question, Survey

YES_NO = (Option(code=1, text="Yes"), Option(code=0, text="No"))
FOLLOW_UP = (
    Option(code=0, text="No"),
    Option(code=1, text="Yes, then Yes"),
    Option(code=2, text="Yes, then No"),
)


def describe(
    *, survey: Survey, wave_number: int, questions: Sequence[Question] | None = None
) -> Manifest:
    """Say what would be frozen if the survey were launched now, or with other questions.

    Where fewer blocks are left than are to be drawn, everybody is asked everything; such a draft
    cannot be launched.
    """
    everything = _describe_all(
        survey=survey,
        wave_number=wave_number,
        questions=list(survey.questions.all()) if questions is None else questions,
    )
    if survey.drawn is None or survey.drawn >= everything.block_count:
        return everything
    return replace(everything, drawn=survey.drawn)


def _describe_all(*, survey: Survey, wave_number: int, questions: Sequence[Question]) -> Manifest:
    with override(survey.language):
        described = describe_questions(questions)
    manifest = Manifest(
        survey=survey.slug,
        wave=wave_number,
        title=survey.title,
        introduction=survey.introduction,
        language=survey.language,
        minimum_batch=survey.minimum_batch,
        display_minimum=survey.display_minimum,
        opens=survey.opens_at,
        closes=survey.closes_at,
        cap=survey.cap,
        questions=described,
        closing_message=survey.closing_message,
        quick_exit=survey.quick_exit,
        coins=survey.coins,
    )
    words = describe_words(survey=survey, manifest=manifest)
    return replace(manifest, translations={code: hash_words(words[code]) for code in words})


def describe_words(*, survey: Survey, manifest: Manifest) -> dict[str, str]:
    """The words of every other language as they would be frozen, whose hashes a manifest names."""
    return {
        translation.language: write_words(
            manifest, language=translation.language, texts=translation.texts
        )
        for translation in survey.translations.exclude(language=survey.language)
    }


def describe_questions(questions: Sequence[Question]) -> tuple[ManifestQuestion, ...]:
    """Each with its name, its thresholds and its rule over names.

    Answers that Murmur words are in the language that is active.
    """
    names = name_questions(questions)
    return tuple(_describe_question(question, names) for question in questions)


def name_questions(questions: Sequence[Question]) -> dict[str, str]:
    """Names of questions by primary key: the position, so that Q3 of a page is q3 of a file.

    Texts to read bear a name too, because rules and pages count them.
    """
    return {str(question.pk): f"q{number}" for number, question in enumerate(questions, start=1)}


def _describe_question(question: Question, names: dict[str, str]) -> ManifestQuestion:
    def name(key: str) -> str:
        owner, separator, item = key.partition("_")
        return names[owner] + separator + item

    described = ManifestQuestion(
        name=names[str(question.pk)],
        type=question.type,
        text=question.text,
        options=describe_options(question),
        refusal=question.refusal,
        rule=None if question.rule is None else rename(question.rule, name),
        minimum=question.minimum,
        maximum=question.maximum,
        unit=question.unit,
        low_label=question.low_label,
        high_label=question.high_label,
        limit=question.limit,
        follow_up=question.follow_up,
    )
    return with_strength(described, flips=question.flips)


def describe_options(question: Question) -> tuple[Option, ...]:
    types = Question.Type
    match question.type:
        case types.YES_NO:
            return _translate(YES_NO)
        case types.FOLLOW_UP:
            return _translate(FOLLOW_UP)
        case types.CHOICE | types.DECLARED:
            return tuple(Option(code=i, text=text) for i, text in enumerate(question.options))
        case types.SEVERAL:
            return tuple(Option(code=i, text=text) for i, text in enumerate(question.options, 1))
        case types.SCALE if question.has_shares:
            assert question.minimum is not None
            assert question.maximum is not None
            points = range(question.minimum, question.maximum + 1)
            return tuple(Option(code=code, text=str(point)) for code, point in enumerate(points))
    return ()


def _translate(options: Sequence[Option]) -> tuple[Option, ...]:
    return tuple(replace(option, text=gettext(option.text)) for option in options)


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RuleProblem:
    """`number` is that of the question whose rule cannot work."""

    number: int
    text: str


def find_rule_problems(
    questions: Sequence[Question], *, spoken: Mapping[str, int] | None = None
) -> list[RuleProblem]:
    """Say which rules cannot work, each with what to do; none for a draft in order.

    `spoken` are the numbers that the author sees, by key, where they are about to change.
    """
    places = {str(question.pk): place for place, question in enumerate(questions, start=1)}
    spoken = places if spoken is None else spoken
    problems: list[RuleProblem] = []
    earlier: list[Asked] = []
    for question in questions:
        if question.rule is not None:
            problem = _find_reference_problem(question, questions, places, spoken)
            number = spoken[str(question.pk)]
            # Behind a rule that cannot be read, nothing can be said about what will be asked.
            problem = problem or ("" if problems else _find_dead_end(number, question, earlier))
            if problem:
                problems.append(RuleProblem(number=number, text=problem))
        earlier.append(_as_asked(question))
    return problems


def _find_reference_problem(
    question: Question,
    questions: Sequence[Question],
    places: Mapping[str, int],
    spoken: Mapping[str, int],
) -> str:
    assert question.rule is not None
    own = str(question.pk)
    number = spoken[own]
    remedy = f"Change the rule of question {number} first."
    for leaf in leaves(question.rule):
        key, _, item = leaf["name"].partition("_")
        if key == own:
            return f"Question {number} cannot depend on its own answer. Change its rule."
        if key not in places:
            what = f"question {spoken[key]}, which" if key in spoken else "a question that"
            return f"Question {number} is asked depending on {what} would be gone. {remedy}"
        other = f"question {spoken[key]}"
        if places[key] > places[own]:
            return (
                f"Question {number} is asked depending on {other}, so it must come after it. "
                f"{remedy}"
            )
        symbols = _as_asked(questions[places[key] - 1]).symbols
        k = symbols.get(leaf["name"], 0)
        if not all(code < k for code in leaf["is"]):
            what = f"answer {item} of {other}" if item else f"an answer to {other}"
            return f"Question {number} is asked depending on {what} that would be gone. {remedy}"
    return ""


def _find_dead_end(number: int, question: Question, earlier: Sequence[Asked]) -> str:
    assert question.rule is not None
    try:
        can_hold, can_fail = outcomes(question.rule, earlier=earlier)
    except TooComplex:
        return f"The rule of question {number} is too long to be checked. Write a simpler one."
    if not can_hold:
        return (
            f"Question {number} would never be asked: no answers make its rule hold. Change the "
            "rule or delete the question."
        )
    if not can_fail:
        return (
            f"Question {number} would always be asked: every answer makes its rule hold. Remove "
            "the rule; it would only make the results less precise."
        )
    return ""


def _as_asked(question: Question) -> Asked:
    key = str(question.pk)
    if question.type == Question.Type.SEVERAL:
        symbols = {f"{key}_{item}": 2 for item in range(1, len(question.options) + 1)}
    else:
        symbols = {key: len(describe_options(question))}
    return Asked(
        name=key,
        symbols=symbols,
        rule=question.rule,
        may_refuse=question.refusal,
        at_most=question.limit,
    )


def find_meaning_problems(
    *, before: Question, after: Question, questions: Sequence[Question]
) -> list[RuleProblem]:
    """Say whose rules would go on as before and mean another answer: codes have no words.

    Rewording an answer is fine. One that moves to another line takes its code not with it.
    """
    old, new = _words_of(before), _words_of(after)
    problems = []
    for number, question in enumerate(questions, start=1):
        if question.rule is None or question.pk == before.pk:
            continue
        for name, code in _named_answers(question.rule, str(before.pk)):
            was, becomes = old.get((name, code), ""), new.get((name, code), "")
            reworded = was not in new.values() and becomes not in old.values()
            if before.type == after.type and (was == becomes or reworded):
                continue
            problems.append(
                RuleProblem(
                    number=number,
                    text=f"Question {number} is asked depending on the answer “{was}” to this "
                    f"question, which would become another one. Change the rule of question "
                    f"{number} first.",
                )
            )
            break
    return problems


def _words_of(question: Question) -> dict[tuple[str, int], str]:
    """The words of every answer that a rule can name, by name and code."""
    options = describe_options(question)
    if question.type == Question.Type.SEVERAL:
        return {(f"{question.pk}_{option.code}", 1): option.text for option in options}
    return {(str(question.pk), option.code): option.text for option in options}


def _named_answers(rule: Rule, key: str) -> Iterator[tuple[str, int]]:
    for leaf in leaves(rule):
        if leaf["name"].partition("_")[0] == key:
            for code in leaf["is"]:
                yield leaf["name"], code
