"""A form for each type of question, with the fields that this type needs."""

from __future__ import annotations

from django import forms

from privacy.mechanism.drawing import MAX_RANGE
from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.authoring.forms.question_base import (
    NamedForm,
    ProtectedForm,
    QuestionForm,
    RuledForm,
    question_text,
    refusal_switch,
)
from surveys.form_fields import Lines, PlainText, WholeNumber, write_number
from surveys.formatting import join_list
from surveys.manifest.plain_text import fold
from surveys.manifest.questions import FIRST_RESERVED, NONE_TEXT, REFUSED_TEXT
from surveys.models import MAX_OPTION_LENGTH, Question

MAX_SCALE_POINTS = 11
LOWEST_POINT, HIGHEST_POINT = FIRST_RESERVED + 1, 100
FURTHEST_NUMBER = 1_000_000_000


def _options(most: int) -> Lines:
    return Lines(
        least=2,
        most=most,
        longest=MAX_OPTION_LENGTH,
        label="Options, one per line",
        help_text=f"From 2 to {most}, in the order in which people see them. Plain text, up to "
        f"{MAX_OPTION_LENGTH} characters each.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )


class YesNoForm(ProtectedForm):
    type = Question.Type.YES_NO

    text = question_text(
        "question",
        "Question",
        help_text="A question that can be answered with yes or no, such as “Have you ever driven "
        "after drinking?”. Plain text, up to 1,000 characters.",
    )


class FollowUpForm(ProtectedForm):
    type = Question.Type.FOLLOW_UP

    text = question_text(
        "question", "First question", help_text="A question that can be answered with yes or no."
    )
    follow_up = question_text(
        "follow-up",
        "Follow-up, shown after Yes",
        help_text="Another question that can be answered with yes or no.",
    )


class OptionsForm(QuestionForm):
    """Types whose answers the author writes."""

    def _read_options(self) -> list[str]:
        options: list[str] = self.cleaned_data.get("options", [])
        refused = self.cleaned_data.get("refusal") and fold(REFUSED_TEXT)
        for number, option in enumerate(options, start=1):
            if refused and fold(option) == refused:
                self.add_error(
                    "options",
                    f"Line {number} says “{REFUSED_TEXT}”, which you also offer with the switch "
                    "below. Delete the line.",
                )
            elif self.described.has_items and fold(option) == fold(NONE_TEXT):
                self.add_error(
                    "options",
                    f"Line {number} says “{NONE_TEXT}”, which the page offers anyway. Delete "
                    "the line.",
                )
        return options

    def _check(self) -> None:
        self._read_options()

    def _example(self) -> Question | None:
        return None


class ChoiceForm(ProtectedForm, OptionsForm):
    type = Question.Type.CHOICE

    options = _options(MAX_SYMBOLS)

    def _check(self) -> None:
        options = len(self._read_options())
        extras = [
            name
            for name, counts in (
                ("“prefer not to say”", self.cleaned_data.get("refusal")),
                ("“not asked”", self.cleaned_data.get("rule")),
            )
            if counts
        ]
        most = MAX_SYMBOLS - len(extras)
        if options > most:
            verb = "counts as one" if len(extras) == 1 else "count as two"
            self.add_error(
                "options",
                f"There are {options} options, and {join_list(extras)} {verb} more. Delete "
                f"some: the maximum is {most}.",
            )


class SeveralForm(ProtectedForm, OptionsForm):
    type = Question.Type.SEVERAL

    options = _options(20)
    limit = WholeNumber(
        low=1,
        high=19,
        required=False,
        label="Choose at most (optional)",
        help_text="With a limit r of at most half the options, the question costs only as much "
        "as 2r options.",
    )

    def _check(self) -> None:
        options, limit = len(self._read_options()), self.cleaned_data.get("limit")
        if options and limit is not None and limit >= options:
            self.add_error(
                "limit",
                f"With {options} options a limit of {limit} changes nothing. Enter a number from 1 "
                f"to {options - 1}, or leave it empty.",
            )


class RangeForm(QuestionForm):
    """Types whose answers lie between two whole numbers."""

    def _check(self) -> None:
        low, high = self.cleaned_data.get("minimum"), self.cleaned_data.get("maximum")
        if low is None or high is None:
            return
        if low >= high:
            first, last = (str(self.fields[name].label).lower() for name in ("minimum", "maximum"))
            self.add_error(
                "maximum",
                f"The {last} must be above the {first}, {write_number(low)}. Enter a larger one.",
            )
        elif problem := self._find_length_problem(high - low):
            self.add_error("maximum", problem)

    def _find_length_problem(self, length: int) -> str:
        raise NotImplementedError


def _scale_point(label: str, *, initial: int) -> WholeNumber:
    why = " In files, lower numbers mean “no answer”."
    return WholeNumber(low=LOWEST_POINT, high=HIGHEST_POINT, why=why, label=label, initial=initial)


class ScaleForm(ProtectedForm, RangeForm):
    type = Question.Type.SCALE

    minimum = _scale_point("First point", initial=1)
    maximum = _scale_point("Last point", initial=5)
    low_label = PlainText(
        name="label",
        missing="",
        required=False,
        max_length=100,
        label="What the first point means (optional)",
    )
    high_label = PlainText(
        name="label",
        missing="",
        required=False,
        max_length=100,
        label="What the last point means (optional)",
    )

    def _find_length_problem(self, length: int) -> str:
        points = length + 1
        if points <= MAX_SCALE_POINTS:
            return ""
        return (
            f"The scale has {points} points. The maximum is {MAX_SCALE_POINTS}. For more, "
            "ask for a number in a range."
        )

    def _example(self) -> Question | None:
        example = super()._example()
        if example is not None:
            example.minimum, example.maximum = 1, 5
        return example


class NumberForm(ProtectedForm, RangeForm):
    type = Question.Type.NUMBER

    minimum = WholeNumber(
        low=-FURTHEST_NUMBER,
        high=FURTHEST_NUMBER,
        label="Smallest number",
        help_text="Keep the range as narrow as you honestly can: the precision of the mean is a "
        "percentage of the range.",
    )
    maximum = WholeNumber(low=-FURTHEST_NUMBER, high=FURTHEST_NUMBER, label="Largest number")
    unit = PlainText(
        name="unit",
        missing="",
        required=False,
        max_length=40,
        label="Unit (optional)",
        help_text="Such as hours or euros.",
    )

    def _find_length_problem(self, length: int) -> str:
        if length < MAX_RANGE:
            return ""
        return (
            f"The range is too wide: the largest number can be at most {MAX_RANGE - 1:,} above the "
            "smallest number. Ask in larger units, such as thousands."
        )

    def _example(self) -> Question | None:
        example = super()._example()
        if example is not None:
            example.minimum, example.maximum = 0, 100
        return example


class InformationForm(RuledForm):
    type = Question.Type.INFORMATION

    text = question_text(
        "text", "Text", help_text="Plain text, up to 1,000 characters.", lines=True
    )

    def _example(self) -> Question | None:
        return None


class DeclaredForm(OptionsForm, NamedForm):
    type = Question.Type.DECLARED

    options = _options(8)
    refusal = refusal_switch(
        help_text="It costs nothing. Results show how many people chose it, like a group."
    )
    confirmed = forms.BooleanField(
        label="I understand that this answer is sent unprotected",
        error_messages={
            "required": "Tick the box if this answer may be sent unprotected. Otherwise choose "
            "a type that is scrambled."
        },
    )


QUESTION_FORMS: dict[str, type[QuestionForm]] = {
    form.type.value: form
    for form in (
        YesNoForm,
        ChoiceForm,
        ScaleForm,
        SeveralForm,
        NumberForm,
        FollowUpForm,
        InformationForm,
        DeclaredForm,
    )
}
