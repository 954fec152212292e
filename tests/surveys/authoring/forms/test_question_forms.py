"""What authors may type into the form of each type of question."""

from __future__ import annotations

import pytest

from surveys.authoring.forms import QUESTION_FORMS, QuestionForm
from surveys.models import Question
from tests.support.question_forms import GOOD

T = Question.Type
EARLIER = [
    Question(pk=1, position=1, type=T.YES_NO, text="First?"),
    Question(pk=2, position=2, type=T.CHOICE, text="Second?", options=["A", "B"]),
]
CONTROL = (
    "The list contains an invisible control character. "
    "Delete the text and type it again, or paste it as plain text."
)
TWICE = (
    "Line 3 says “Prefer not to say”, which you also offer with the switch below. Delete the line."
)
NO_LIMIT = (
    "With 3 options, a limit of {} changes nothing. Enter a number from 1 to 2, or leave it empty."
)
LONG_SCALE = "The scale has 12 points. The maximum is 11. For more, ask for a number in a range."
WIDE_RANGE = (
    "The range is too wide: the largest number can be at most 1,048,575 above the "
    "smallest number. Ask in larger units, such as thousands."
)
LONGEST = "\n".join(f"Option {number}" for number in range(1, 65))


def fill(type_: str, *, earlier: bool = False, **changes: str) -> QuestionForm:
    questions = EARLIER if earlier else []
    return QUESTION_FORMS[type_]({**GOOD[type_], **changes}, questions=questions)


def errors_of(form: QuestionForm) -> dict[str, list[str]]:
    return {name: [str(error) for error in errors] for name, errors in form.errors.items()}


def test_every_type_has_a_form() -> None:
    # A second code needs a scale (tests/surveys/authoring/test_second_codes.py).
    assert set(QUESTION_FORMS) == set(Question.Type.values) == {*GOOD, "second"}
    assert all(form().described.explanation.endswith(".") for form in QUESTION_FORMS.values())


@pytest.mark.parametrize("type_", GOOD)
def test_a_good_question_of_each_type_passes(type_: str) -> None:
    form = fill(type_)
    assert form.is_valid(), form.errors
    content = form.content()
    assert tuple(content) == Question.CONTENT
    assert content["type"] == type_


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("yes_no", "text flips refusal together rule"),
        ("choice", "text options flips refusal together rule"),
        ("scale", "text minimum maximum low_label high_label flips refusal together rule"),
        ("several", "text options limit flips refusal rule"),
        ("number", "text minimum maximum unit flips refusal rule"),
        ("follow_up", "text follow_up flips refusal rule"),
        ("information", "text rule"),
        ("declared", "text options refusal confirmed"),
    ],
)
def test_each_form_has_exactly_the_fields_that_its_type_needs(type_: str, fields: str) -> None:
    named = [] if type_ == "information" else ["name", "short_label"]
    shown = [name for name in QUESTION_FORMS[type_]().fields if name not in named]
    assert shown == fields.split()
    assert set(named) <= set(QUESTION_FORMS[type_]().fields)


def test_fields_that_a_type_does_not_use_are_emptied() -> None:
    stored = Question(pk=3, position=3, type=T.CHOICE, text="Q?", options=["A", "B"], refusal=True)
    form = QUESTION_FORMS["information"](
        {"text": "Read"}, questions=[*EARLIER, stored], question=stored
    )
    assert form.is_valid()
    content = form.content()
    assert (content["options"], content["refusal"], content["flips"]) == ([], False, 25)


def test_a_text_to_read_keeps_its_line_breaks() -> None:
    form = fill("information")
    assert form.is_valid()
    assert form.content()["text"] == "Read\nthis"


@pytest.mark.parametrize("options", ["A\n\nB", "\nA\nB", "A\n\u200b\n \nB\n\n", "\r\nA\r\n\r\nB"])
def test_empty_lines_between_options_are_dropped(options: str) -> None:
    form = fill("choice", options=options)
    assert form.is_valid()
    assert form.content()["options"] == ["A", "B"]


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        ("", ["Enter at least 2 options, one per line."]),
        ("\n \n", ["Enter at least 2 options, one per line."]),
        ("A", ["There is only one option. Enter at least 2, one per line."]),
        ("\n\nA\n\n", ["There is only one option. Enter at least 2, one per line."]),
        ("A\nB\nA", ["Line 3 is the same as line 1. Change one of them."]),
        ("Bus\nTram\n bUS ", ["Line 3 is the same as line 1. Change one of them."]),
        ("Straße\nSTRASSE", ["Line 2 is the same as line 1. Change one of them."]),
        ("By  bus\nBy bus", ["Line 2 is the same as line 1. Change one of them."]),
        ("A\n" + "B" * 201, ["Line 2 has 201 characters. Shorten it to 200 or fewer."]),
        (LONGEST + "\nOne more", ["There are 65 options. Delete some: the maximum is 64."]),
        (
            "A\x00\nB",
            [CONTROL],
        ),
        (
            "A\n\nB\nB",
            ["Line 4 is the same as line 3. Change one of them."],
        ),
    ],
)
def test_invalid_options_are_reported_by_line(options: str, messages: list[str]) -> None:
    form = fill("choice", options=options)
    assert errors_of(form) == {"options": messages}
    assert options.strip("\x00")[:3] in str(form["options"].value())


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ("A\r\nB\r\n", ["A", "B"]),
        ("A\nB\n\n  \n", ["A", "B"]),
        (" A \n\tB", ["A", "B"]),
        ("B" * 200 + "\nA", ["B" * 200, "A"]),
        ("<b>A</b>\n=1+1", ["<b>A</b>", "=1+1"]),
    ],
)
def test_options_are_read_line_by_line(options: str, read: list[str]) -> None:
    form = fill("choice", options=options)
    assert form.is_valid(), form.errors
    assert form.cleaned_data["options"] == read


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({}, 64),
        ({"refusal": "on"}, 63),
        ({"rule": "Q1 is yes"}, 63),
        ({"refusal": "on", "rule": "Q1 is yes"}, 62),
    ],
)
def test_codes_for_missing_answers_count_towards_the_maximum_of_64(
    changes: dict[str, str], most: int
) -> None:
    lines = LONGEST.splitlines()
    assert fill("choice", earlier=True, options="\n".join(lines[:most]), **changes).is_valid()
    if most < 64:
        form = fill("choice", earlier=True, options="\n".join(lines[: most + 1]), **changes)
        [message] = errors_of(form)["options"]
        assert f"There are {most + 1} options" in message
        assert f"the maximum is {most}." in message


def test_prefer_not_to_say_is_not_offered_twice() -> None:
    form = fill("choice", options="A\nB\nprefer NOT to say", refusal="on")
    assert errors_of(form) == {"options": [TWICE]}
    assert fill("choice", options="A\nB\nprefer NOT to say").is_valid()


@pytest.mark.parametrize(("type_", "most"), [("several", 20), ("declared", 8)])
def test_shorter_lists_have_their_own_maximum(type_: str, most: int) -> None:
    lines = LONGEST.splitlines()
    assert fill(type_, options="\n".join(lines[:most])).is_valid()
    form = fill(type_, options="\n".join(lines[: most + 1]))
    assert errors_of(form) == {
        "options": [f"There are {most + 1} options. Delete some: the maximum is {most}."]
    }


@pytest.mark.parametrize("limit", ["1", "2"])
def test_a_limit_below_the_number_of_options_is_kept(limit: str) -> None:
    form = fill("several", limit=limit)
    assert form.is_valid()
    assert form.content()["limit"] == int(limit)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("0", "Enter a whole number from 1 to 19."),
        ("-1", "Enter a whole number from 1 to 19."),
        ("20", "Enter a whole number from 1 to 19."),
        ("two", "Enter a whole number from 1 to 19."),
        ("1.5", "Enter a whole number from 1 to 19."),
        (
            "3",
            NO_LIMIT.format(3),
        ),
        (
            "4",
            NO_LIMIT.format(4),
        ),
    ],
)
def test_a_limit_that_limits_nothing_is_refused(limit: str, message: str) -> None:
    assert errors_of(fill("several", limit=limit)) == {"limit": [message]}


SCALE_ENDS = "Enter a whole number from −89 to 100. In files, lower numbers mean “no answer”."
NUMBER_ENDS = "Enter a whole number from −1,000,000,000 to 1,000,000,000."


@pytest.mark.parametrize(
    ("type_", "minimum", "maximum", "errors"),
    [
        (
            "scale",
            "1",
            "1",
            {"maximum": "The last point must be above the first point, 1. Enter a larger one."},
        ),
        (
            "scale",
            "5",
            "-1",
            {"maximum": "The last point must be above the first point, 5. Enter a larger one."},
        ),
        (
            "scale",
            "0",
            "11",
            {"maximum": LONG_SCALE},
        ),
        ("scale", "", "x", {"minimum": SCALE_ENDS, "maximum": SCALE_ENDS}),
        ("scale", "1.5", "5", {"minimum": SCALE_ENDS}),
        ("scale", "1", "101", {"maximum": SCALE_ENDS}),
        ("scale", "-90", "-85", {"minimum": SCALE_ENDS}),
        ("scale", "-97", "-93", {"minimum": SCALE_ENDS, "maximum": SCALE_ENDS}),
        (
            "number",
            "-3",
            "-3",
            {
                "maximum": "The largest number must be above the smallest number, −3. "
                "Enter a larger one."
            },
        ),
        (
            "number",
            "0",
            "1048576",
            {"maximum": WIDE_RANGE},
        ),
        ("number", "1e3", "", {"minimum": NUMBER_ENDS, "maximum": NUMBER_ENDS}),
        ("number", "9" * 5000, "1", {"minimum": NUMBER_ENDS}),
        ("number", "-1000000001", "0", {"minimum": NUMBER_ENDS}),
    ],
)
def test_invalid_ranges_are_explained(
    type_: str, minimum: str, maximum: str, errors: dict[str, str]
) -> None:
    form = fill(type_, minimum=minimum, maximum=maximum)
    assert errors_of(form) == {name: [message] for name, message in errors.items()}


@pytest.mark.parametrize(
    ("type_", "minimum", "maximum"),
    [
        ("scale", "0", "1"),
        ("scale", "-5", "5"),
        ("scale", "-89", "-85"),
        ("number", "0", "1"),
        ("number", "0", "1048575"),
        ("number", "-1000000000", "-999999000"),
    ],
)
def test_ranges_of_every_length_pass(type_: str, minimum: str, maximum: str) -> None:
    assert fill(type_, minimum=minimum, maximum=maximum).is_valid()


@pytest.mark.parametrize(("field", "most"), [("low_label", 100), ("high_label", 100)])
def test_labels_have_a_maximum_length(field: str, most: int) -> None:
    assert QUESTION_FORMS["scale"]({**GOOD["scale"], field: "x" * most}).is_valid()
    assert "Shorten it to 100 or fewer." in str(
        QUESTION_FORMS["scale"]({**GOOD["scale"], field: "x" * (most + 1)}).errors
    )


def test_a_follow_up_needs_both_questions() -> None:
    assert errors_of(fill("follow_up", text=" ", follow_up="")) == {
        "text": ["Enter the question."],
        "follow_up": ["Enter the follow-up."],
    }


def test_a_question_that_is_not_scrambled_needs_a_reason() -> None:
    form = fill("declared", confirmed="")
    assert list(form.errors) == ["confirmed"]
    assert "Tick the box if this answer may be sent unprotected." in str(form.errors)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("Q3 is yes", "Q3 does not come before this question."),  # itself
        ("Q7 is yes", "Q7 does not come before this question."),
        ("Q1 is maybe", "“maybe” is not an answer to Q1."),
        ("Q1 is yes and Q1 is no", " would never be asked"),
        ("Q1 is yes or Q1 is no", " would always be asked"),
        ("Q1 is yes and not Q1 is yes", " would never be asked"),
        ("Q2 is one of 1, 2", " would always be asked"),
        ("when Q1 is yes", "A question such as Q1 must come here, not “when”."),
        ("Q1 is yes " * 200, "Shorten it to 1000 or fewer."),
    ],
)
@pytest.mark.parametrize("type_", ["yes_no", "information"])
def test_rules_that_make_no_sense_are_explained_at_their_field(
    type_: str, rule: str, message: str
) -> None:
    form = fill(type_, earlier=True, rule=rule)
    assert list(form.errors) == ["rule"]
    assert message in errors_of(form)["rule"][0]


def test_a_rule_is_stored_as_conditions_and_shown_as_text() -> None:
    form = fill("yes_no", earlier=True, rule="q1 is YES and (Q2 is 2)")
    assert form.is_valid(), form.errors
    rule = {"all": [{"name": "1", "is": [1]}, {"name": "2", "is": [1]}]}
    assert form.content()["rule"] == rule
    stored = Question(pk=3, position=3, type=T.YES_NO, text="Q?", rule=rule)
    again = QUESTION_FORMS["yes_no"](questions=[*EARLIER, stored], question=stored)
    assert again["rule"].value() == "Q1 is yes and Q2 is 2"


def test_an_edit_that_takes_an_answer_from_a_rule_is_refused_in_the_form() -> None:
    child = Question(pk=3, position=3, type=T.YES_NO, text="Q?", rule={"name": "2", "is": [1]})
    form = QUESTION_FORMS["choice"](
        {**GOOD["choice"], "options": "B\nA"}, questions=[*EARLIER, child], question=EARLIER[1]
    )
    [message] = form.non_field_errors()
    assert "Question 3 depends on the answer “B” to this question" in str(message)
    assert "Change the rule of question 3 first." in str(message)


@pytest.mark.parametrize("flips", ["x", "0", "50", "²", "-1", ""])
def test_an_invalid_strength_in_the_address_is_ignored(flips: str) -> None:
    form = QUESTION_FORMS["yes_no"](offered={"flips": flips, "rule": "Q1 is yes"})
    assert form["flips"].value() == 25
    assert not form["rule"].value()


def test_a_strength_that_is_offered_can_be_chosen() -> None:
    offered = {"flips": "10", "text": "One?", "follow_up": "Two?"}
    data = {"text": "One?", "follow_up": "Two?", "flips": "10"}
    assert QUESTION_FORMS["follow_up"](offered=offered)["follow_up"].value() == "Two?"
    assert QUESTION_FORMS["follow_up"](data, offered=offered).is_valid()
    assert not QUESTION_FORMS["follow_up"](data).is_valid()
