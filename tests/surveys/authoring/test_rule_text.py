"""Rules in the form in which authors write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.authoring.answer_options import name_answers
from surveys.authoring.errors import RuleError
from surveys.authoring.rule_text import MAX_DEPTH, parse_rule, write_rule
from surveys.manifest.rules import Rule
from surveys.models import Question

T = Question.Type
EARLIER = [
    Question(pk=11, type=T.YES_NO, text="Q1"),
    Question(pk=12, type=T.CHOICE, text="Q2", options=["A", "B", "C"]),
    Question(pk=13, type=T.SCALE, text="Q3", minimum=-2, maximum=2),
    Question(pk=14, type=T.SEVERAL, text="Q4", options=["A", "B", "C"]),
    Question(pk=15, type=T.FOLLOW_UP, text="Q5", follow_up="And?"),
    Question(pk=16, type=T.DECLARED, text="Q6", options=["North", "South"]),
    Question(pk=17, type=T.NUMBER, text="Q7", minimum=0, maximum=9),
    Question(pk=18, type=T.INFORMATION, text="Read"),
    Question(pk=19, type=T.SCALE, text="Q8", minimum=0, maximum=10),
]
YES: Rule = {"name": "11", "is": [1]}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Q1 is yes", YES),
        ("  q1   IS Yes ", YES),
        ("Q1 is not no", {"not": {"name": "11", "is": [0]}}),
        ("not Q1 is yes", {"not": YES}),
        ("Q2 is one of 3, 1", {"name": "12", "is": [0, 2]}),
        ("Q2 is one of 3,1,3", {"name": "12", "is": [0, 2]}),
        ("Q3 is -2", {"name": "13", "is": [0]}),
        ("Q4 has 2", {"name": "14_2", "is": [1]}),
        ("Q4 has one of 1, 3", {"any": [{"name": "14_1", "is": [1]}, {"name": "14_3", "is": [1]}]}),
        ("Q5 is yes-no", {"name": "15", "is": [2]}),
        ("Q6 is 2", {"name": "16", "is": [1]}),
        (
            "Q1 is yes and Q4 has 1 or Q6 is 1",
            {"any": [{"all": [YES, {"name": "14_1", "is": [1]}]}, {"name": "16", "is": [0]}]},
        ),
        (
            "Q1 is yes and (Q4 has 1 or Q6 is 1)",
            {"all": [YES, {"any": [{"name": "14_1", "is": [1]}, {"name": "16", "is": [0]}]}]},
        ),
        ("((Q1 is yes))", YES),
        ("q1 = yes", YES),
        ("Q1=yes", YES),
        ("Q1 == yes", YES),
        ("Q1 != no", {"not": {"name": "11", "is": [0]}}),
        ("Q1≠no", {"not": {"name": "11", "is": [0]}}),
        ("Q2 in 1, 3", {"name": "12", "is": [0, 2]}),
        ("(Q2 in (1, 3))", {"name": "12", "is": [0, 2]}),
        ("Q4 = 2", {"name": "14_2", "is": [1]}),
        ("Q2 >= 2", {"name": "12", "is": [1, 2]}),
        ("Q3>-1", {"name": "13", "is": [2, 3, 4]}),
        ("Q3 ≤ -1", {"name": "13", "is": [0, 1]}),
        ("Q6 < 2 and Q1 = yes", {"all": [{"name": "16", "is": [0]}, YES]}),
    ],
)
def test_rules_are_read(text: str, rule: Rule) -> None:
    assert parse_rule(text, earlier=EARLIER) == rule


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_text_is_no_rule(text: str) -> None:
    assert parse_rule(text, earlier=EARLIER) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Q10 is yes", "Q10 does not come before this question."),
        ("Q999 is yes", "Q999 does not come before this question."),
        ("Q0 is yes", "A question such as Q1 must come here, not “Q0”."),
        ("yes", "A question such as Q1 must come here, not “yes”."),
        ("Q1 is yes and", "A question such as Q1 must come here, but the rule ends."),
        ("Q1", "The word “is” must follow Q1."),
        ("Q1 has yes", "The word “is” must follow Q1."),
        ("Q4 is 1", "The word “has” must follow Q4."),
        ("Q1 is maybe", "“maybe” is not an answer to Q1. Its answers are called no, yes."),
        ("Q1 is", "An answer is missing after Q1. Its answers are called no, yes."),
        ("Q2 is 4", "“4” is not an answer to Q2. Its answers are called 1, 2, 3."),
        ("Q2 is one 4", "The word “of” must follow “one”."),
        ("Q3 is 3", "Its answers are called -2, -1, 0, 1, 2."),
        ("Q7 is 3", "A rule cannot use Q7, because it has no answers to choose from."),
        ("Q8 is 3", "A rule cannot use Q8"),  # long scale, after a text without a number
        ("Q9 is 3", "Q9 does not come before this question"),
        ("(Q1 is yes", "The rule opens a bracket but does not close it"),
        ("Q1 is yes)", "The rule cannot be read from “)” onwards."),
        ("Q1 is yes Q2 is 1", "The rule cannot be read from “Q2” onwards."),
        ("Q1 == 1", "“1” is not an answer to Q1."),
        ("Q1 >= yes", "“>=” compares numbers, but the answers to Q1 are no, yes."),
        ("Q3 > 2", "No answer to Q3 is > 2."),
        ("Q3 >= many", "“many” is not an answer to Q3."),
        ("Q4 >= 2", "The word “has” must follow Q4."),
        ("Q4 != 2", "The word “has” must follow Q4."),
        ("Q2 in (1, 3", "The rule opens a bracket but does not close it"),
        ("Q1 => yes", "The word “is” must follow Q1."),
        ("<b>Q1</b>", "must come here, not “<”"),
        ("not " * (MAX_DEPTH + 1) + "Q1 is yes", "nested too deeply"),
        ("(" * 400 + "Q1 is yes" + ")" * 400, "nested too deeply"),
    ],
)
def test_an_error_says_where_it_is_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text, earlier=EARLIER)
    assert message in str(caught.value)


def test_each_name_of_an_answer_means_a_different_code() -> None:
    for question in EARLIER:
        keys = name_answers(question)
        assert len(set(keys.values())) == len(keys)
        assert all(key == key.lower() for key in keys)


# Rules as the parser makes them: single conditions, negations, and lists of two or more that
# contain no list of the same kind.
def _conditions() -> st.SearchStrategy[Rule]:
    def about(question: Question) -> st.SearchStrategy[Rule]:
        codes = sorted(name_answers(question).values())
        if question.type == T.SEVERAL:
            return st.sampled_from(codes).map(lambda c: {"name": f"{question.pk}_{c}", "is": [1]})
        chosen = st.sets(st.sampled_from(codes), min_size=1).map(sorted)
        return chosen.map(lambda some: {"name": str(question.pk), "is": some})

    return st.sampled_from([one for one in EARLIER if name_answers(one)]).flatmap(about)


RULES = st.recursive(
    _conditions(),
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(lambda some: {"all": some}),
        st.lists(parts, min_size=2, max_size=3).map(lambda some: {"any": some}),
        parts.map(lambda one: {"not": one}),
    ),
    max_leaves=5,  # never nested too deeply
)


def test_items_are_written_as_one_list() -> None:
    """The list stays as it was typed, because longer text might not fit into the field."""
    for text in ("Q{n} has 1, 2", "not (Q{n} has 1, 2)", "Q1 is yes and Q{n} has 2, 1"):
        number = 1 + next(i for i, one in enumerate(EARLIER) if one.type == T.SEVERAL)
        typed = text.format(n=number)
        rule = parse_rule(typed, earlier=EARLIER)
        assert rule is not None
        assert write_rule(rule, questions=EARLIER) == typed


@given(RULES)
def test_a_written_rule_is_read_as_the_same_rule(rule: Rule) -> None:
    text = write_rule(rule, questions=EARLIER)
    again = parse_rule(text, earlier=EARLIER)
    assert again == rule
    assert write_rule(again, questions=EARLIER) == text


@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "Q1",
                    "Q2",
                    "Q4",
                    "is",
                    "has",
                    "not",
                    "and",
                    "or",
                    "one",
                    "of",
                    "(",
                    ")",
                    ",",
                    "1",
                    "yes",
                ]
            ),
            max_size=12,
        ).map(" ".join),
    )
)
def test_whatever_is_typed_is_a_rule_or_an_explanation(text: str) -> None:
    try:
        rule = parse_rule(text, earlier=EARLIER)
    except RuleError as error:
        explanation = str(error)
        assert explanation.endswith(".")
        return
    assert (rule is None) == (not text.strip())
