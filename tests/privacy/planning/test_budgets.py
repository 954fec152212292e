"""Many questions on one budget: the table in docs/methods/planning.md, and properties."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import budgets

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
LN3 = log(3)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 45)
)
shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("questions", "split", "subset"),
    [(2, 0.0184, 0.0135), (5, 0.0456, 0.0213), (10, 0.0911, 0.0302), (20, 0.1821, 0.0427)],
)
def test_the_table_of_many_questions_on_one_budget(
    questions: int, split: float, subset: float
) -> None:
    errors = [
        function(share=0.2, people=10_000, questions=questions, mechanism=COINS)
        for function in (budgets.split_standard_error, budgets.subset_standard_error)
    ]
    assert [round(error, 4) for error in errors] == [split, subset]
    full = budgets.full_standard_error(share=0.2, people=10_000, mechanism=COINS)
    assert round(full, 4) == 0.0095


@given(shares, mechanisms)
def test_with_one_question_all_ways_of_sharing_a_budget_are_equal(
    share: float, mechanism: RandomizedResponse
) -> None:
    full = budgets.full_standard_error(share=share, people=1000, mechanism=mechanism)
    for function in (budgets.split_standard_error, budgets.subset_standard_error):
        alone = function(share=share, people=1000, questions=1, mechanism=mechanism)
        assert alone == pytest.approx(full)


@given(shares, st.integers(2, 20), mechanisms)
def test_drawing_one_question_beats_splitting_the_budget(
    share: float, questions: int, mechanism: RandomizedResponse
) -> None:
    # This holds only for a small budget, because splitting a large one costs little.
    assume(mechanism.epsilon < LN3 + 1e-6)
    split, subset = (
        function(share=share, people=1000, questions=questions, mechanism=mechanism)
        for function in (budgets.split_standard_error, budgets.subset_standard_error)
    )
    assert subset < split


def test_few_people_or_none_answer_a_given_pair_of_questions() -> None:
    assert budgets.pair_fraction(drawn=1, questions=10) == 0
    assert budgets.pair_fraction(drawn=3, questions=10) == pytest.approx(6 / 90)
    assert budgets.pair_fraction(drawn=10, questions=10) == 1
    assert budgets.question_fraction(drawn=3, questions=10) == pytest.approx(0.3)


# Bad input

GOOD: dict[str, dict[str, object]] = {
    "full_standard_error": {"share": 0.2, "people": 100, "mechanism": COINS},
    "split_standard_error": {"share": 0.2, "people": 9, "questions": 2, "mechanism": COINS},
    "subset_standard_error": {"share": 0.2, "people": 9, "questions": 2, "mechanism": COINS},
    "question_fraction": {"drawn": 1, "questions": 2},
    "pair_fraction": {"drawn": 1, "questions": 2},
}
BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "people": [0, -1],
    "questions": [0],
    "drawn": [0, 3],
}
OPTIONAL = {"drawn": ["subset_standard_error"]}


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [
        (function, argument, value)
        for function, arguments in GOOD.items()
        for argument, values in BAD.items()
        if argument in arguments or function in OPTIONAL.get(argument, [])
        for value in values
    ],
)
def test_errors_name_the_bad_argument(function: str, argument: str, value: object) -> None:
    call = getattr(budgets, function)
    call(**GOOD[function])
    with pytest.raises(ValueError, match=argument):
        call(**{**GOOD[function], argument: value})
