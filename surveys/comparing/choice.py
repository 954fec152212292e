"""Check which questions can be compared, from the manifest alone.

A draft's planned comparisons and the Compare page follow the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod

from privacy.associations.tables import MAX_CELLS
from surveys.comparing.indicators import (
    Factor,
    Indicator,
    find_indicators,
    is_factor_name,
    list_names,
    list_predictors,
)
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest

OUTCOME, GROUP, PREDICTORS = "outcome", "group", "predictors"
MAX_PREDICTORS = 6  # with the outcome, these make 128 cells, and few surveys can estimate more
UNKNOWN_QUESTION = "Choose questions from this survey."
ALL_KNOWN = (
    "These answers are not scrambled, so there is nothing to estimate. Choose a scrambled question "
    "as the outcome."
)
TWO_QUESTIONS = "Choose two questions."
DIFFERENT_QUESTIONS = "Choose two different questions."
ONE_ANSWER = (
    "Only a predictor of a regression can consist of several answers. Choose one answer to "
    "Q{number}."
)
TOO_LARGE = (
    "These questions have too many combinations of answers. Choose fewer questions, or questions "
    "with fewer answers."
)


NO_PREDICTOR = "Choose an outcome and at least one predictor."
OUTCOME_AS_PREDICTOR = "The outcome cannot be one of its predictors. Choose other predictors."
SAME_QUESTION = (
    "Two predictors are answers to the same question. Choose one of them, or “all answers” of the "
    "question."
)
TOO_MANY_PREDICTORS = (
    f"Choose at most {MAX_PREDICTORS} predictors. Each one multiplies the combinations of true "
    "answers that have to be estimated."
)


class NotComparable(Exception):
    """These questions cannot be compared. The message says what to choose instead.

    `field` names the form field to change, if there is one.
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def check_two_questions(*, manifest: Manifest, names: Sequence[str]) -> None:
    """Raise NotComparable unless the outcome and the group can be compared after the close."""
    chosen = find_chosen(manifest, names)
    check_one_is_scrambled(chosen)
    if len(chosen) != 2:
        raise NotComparable(TWO_QUESTIONS, field=GROUP)
    if len(list_symbols(chosen)) < 2:
        raise NotComparable(DIFFERENT_QUESTIONS, field=GROUP)
    check_no_number(chosen[1:], field=GROUP)
    for indicator, field in zip(chosen, (OUTCOME, GROUP), strict=True):
        check_no_factor(indicator, field=field)
    check_together(manifest, chosen, field=GROUP)


def is_table(names: Sequence[str]) -> bool:
    """Return whether these names stand for a comparison of two answers, not for a regression."""
    return len(names) == 2 and not is_factor_name(names[1])


def check_planned(*, manifest: Manifest, names: Sequence[str]) -> None:
    """Raise NotComparable unless these answers can form a table or a regression after the close."""
    if is_table(names) or len(names) < 2:
        check_two_questions(manifest=manifest, names=names)
    else:
        check_regression(manifest=manifest, chosen=find_chosen(manifest, names))


def describe_planned(manifest: Manifest, names: Sequence[str]) -> str:
    return describe_choice(manifest, names, as_table=is_table(names))


def describe_choice(manifest: Manifest, names: Sequence[str], *, as_table: bool) -> str:
    """Describe a choice, such as "Q1 by Q2 (Work)" or "Q1 explained by Q2, Q3 and Q4"."""
    labels = {one.name: one.label for one in list_predictors(manifest)}
    outcome, *others = (labels.get(name) or _label_reference(labels, name) for name in names)
    return f"{outcome} {'by' if as_table else 'explained by'} {join_list(others)}"


def _label_reference(labels: Mapping[str, str], name: str) -> str:
    return labels.get(name.rpartition(".")[0], "a deleted answer")


def check_regression(*, manifest: Manifest, chosen: Sequence[Indicator]) -> None:
    """Raise NotComparable unless the other chosen indicators can explain the first."""
    check_one_is_scrambled(chosen)
    if len(chosen) < 2:
        raise NotComparable(NO_PREDICTOR, field=PREDICTORS)
    check_no_number(chosen[:1], field=OUTCOME)
    check_no_factor(chosen[0], field=OUTCOME)
    check_no_number(chosen[1:], field=PREDICTORS)
    if chosen[0].symbol.name in list_symbols(chosen[1:]):
        raise NotComparable(OUTCOME_AS_PREDICTOR, field=PREDICTORS)
    if len(list_symbols(chosen)) < len(chosen):
        raise NotComparable(SAME_QUESTION, field=PREDICTORS)
    if len(chosen) > MAX_PREDICTORS + 1:
        raise NotComparable(TOO_MANY_PREDICTORS, field=PREDICTORS)
    check_together(manifest, chosen, field="")


def sort_predictors(manifest: Manifest, names: Iterable[str]) -> list[str]:
    """Sort predictors in survey order, so that another order does not count as a new comparison."""
    places = {one.name: place for place, one in enumerate(list_predictors(manifest))}

    def find_place(name: str) -> int:
        return places[name] if name in places else places[name.rpartition(".")[0]]

    return sorted(names, key=find_place)


def find_chosen(manifest: Manifest, names: Sequence[str]) -> list[Indicator]:
    """Find the indicators with these names, or raise NotComparable if the survey lacks one."""
    if not set(names) <= list_names(manifest):
        raise NotComparable(UNKNOWN_QUESTION)
    return find_indicators(manifest, names)


def check_one_is_scrambled(chosen: Sequence[Indicator]) -> None:
    if chosen and all(indicator.is_known for indicator in chosen):
        raise NotComparable(ALL_KNOWN, field=OUTCOME)


def check_no_number(indicators: Sequence[Indicator], *, field: str) -> None:
    for indicator in indicators:
        if indicator.is_number:
            raise NotComparable(
                f"{indicator.label} is a number that each browser rounds to one bit, so it cannot "
                "form groups or be used in a regression. To compare its mean, choose it as the "
                "outcome of two questions.",
                field=field,
            )


def check_no_factor(indicator: Indicator, *, field: str) -> None:
    if isinstance(indicator, Factor):
        raise NotComparable(ONE_ANSWER.format(number=indicator.number), field=field)


def list_symbols(indicators: Sequence[Indicator]) -> set[str]:
    return {indicator.symbol.name for indicator in indicators}


def check_together(manifest: Manifest, chosen: Sequence[Indicator], *, field: str) -> None:
    """Raise NotComparable unless one person can give all of these answers, in any combination.

    NotComparable is also raised if there are too many combinations.
    """
    if prod(indicator.variable.size for indicator in chosen) > MAX_CELLS:
        raise NotComparable(TOO_LARGE)
    _check_apart(chosen, field=field)
    _check_asked_together(manifest, chosen)
    _check_not_decided(manifest, chosen, field=field)


def are_of_one_scale(first: Indicator, second: Indicator) -> bool:
    """Return whether these are the two codes of one scale, which depend on the same total."""
    scales = {first.question.scale, second.question.scale}
    return first.question != second.question and len(scales) == 1 and scales != {""}


def _check_apart(chosen: Sequence[Indicator], *, field: str) -> None:
    for first, second in combinations(chosen, 2):
        if are_of_one_scale(first, second):
            raise NotComparable(
                f"Q{first.number} and Q{second.number} are two codes of one scale. The same total "
                "decides both, so comparing them shows nothing about people. Compare each with "
                "other questions.",
                field=field,
            )


def _check_asked_together(manifest: Manifest, chosen: Sequence[Indicator]) -> None:
    blocks = {indicator.symbol.block for indicator in chosen} - {None}
    if manifest.drawn is not None and len(blocks) > manifest.drawn:
        raise NotComparable(
            f"Each person was asked {manifest.drawn} of {manifest.block_count} blocks of "
            f"questions, so nobody was asked all of these. Choose questions from at most "
            f"{manifest.drawn} blocks."
        )


def decide(manifest: Manifest, first: Indicator, second: Indicator) -> bool:
    """Return whether the answer to one of these questions decides whether the other is asked."""
    return _decides(manifest, first, second) or _decides(manifest, second, first)


def _decides(manifest: Manifest, decider: Indicator, asked: Indicator) -> bool:
    return decider.question.name in manifest.deciders_of(asked.question)


def _check_not_decided(manifest: Manifest, chosen: Sequence[Indicator], *, field: str) -> None:
    for one in chosen:
        for other in chosen:
            if _decides(manifest, other, one):
                raise NotComparable(
                    f"Answers to Q{other.number} decide whether Q{one.number} is asked, so some "
                    "combinations of the two never occur. Choose questions of which none decides "
                    f"whether another is asked. The results page shows Q{one.number} among those "
                    "who were asked.",
                    field=field,
                )
