"""A form for each type of question, with the fields that this type needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.text import Truncator

from privacy.mechanism.drawing import MAX_RANGE
from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.authoring.answer_options import number_answered
from surveys.authoring.forms.question_base import (
    NamedForm,
    ProtectedForm,
    QuestionForm,
    RowForm,
    RuledForm,
    question_text,
    refusal_switch,
)
from surveys.authoring.scale_lines import (
    build_score,
    find_band_problems,
    find_output_problem,
    fit_bands,
    number_options,
    parse_band,
    parse_item,
    parse_option,
)
from surveys.form_fields import Lines, PlainText, WholeNumber, write_number
from surveys.formatting import join_list
from surveys.manifest.plain_text import fold
from surveys.manifest.question_types import MOST_GROUPS, MOST_SEVERAL
from surveys.manifest.questions import FIRST_RESERVED, NONE_TEXT, REFUSED_TEXT
from surveys.manifest.scores import (
    FURTHEST_VALUE,
    LEAST_BANDS,
    LEAST_ITEMS,
    LEAST_OPTIONS,
    MOST_BANDS,
    MOST_ITEMS,
    MOST_OPTIONS,
    Output,
    Score,
)
from surveys.models import (
    MAX_ITEM_LENGTH,
    MAX_OPTION_LENGTH,
    MAX_QUESTION_LENGTH,
    MAX_SCORED_OPTION_LENGTH,
    Question,
    QuestionContent,
)

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


class YesNoForm(RowForm):
    type = Question.Type.YES_NO

    text = question_text(
        "question",
        "Question",
        help_text="A question that can be answered with yes or no, such as “Have you ever driven "
        f"after drinking?”. Plain text, up to {MAX_QUESTION_LENGTH:,} characters.",
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
    """The form for types whose answers the author writes."""

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


class ChoiceForm(RowForm, OptionsForm):
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

    options = _options(MOST_SEVERAL)
    limit = WholeNumber(
        low=1,
        high=19,
        required=False,
        label="Choose at most (optional)",
        help_text="A limit below half of the options protects more. With 6 options and a limit "
        "of 2, the question costs as much as 4 options without a limit.",
    )

    def _check(self) -> None:
        options, limit = len(self._read_options()), self.cleaned_data.get("limit")
        if options and limit is not None and limit >= options:
            self.add_error(
                "limit",
                f"With {options} options, a limit of {limit} changes nothing. Enter a number from "
                f"1 to {options - 1}, or leave it empty.",
            )


class RangeForm(QuestionForm):
    """The form for types whose answers lie between two whole numbers."""

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


class ScaleForm(RowForm, RangeForm):
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


def _find_problem_with(parse: Callable[[str], object]) -> Callable[[str], str]:
    def find_problem(line: str) -> str:
        try:
            parse(line)
        except ValueError as error:
            return str(error)
        return ""

    return find_problem


def _read_option(line: str) -> None:
    if abs(parse_option(line).value) > FURTHEST_VALUE:
        raise ValueError(f"counts more than {FURTHEST_VALUE:,}. Use smaller values.")


def _total(label: str, **kwargs: Any) -> WholeNumber:
    """Build a field for a total. The form uses the items to check whether the total is possible."""
    return WholeNumber(low=-FURTHEST_NUMBER, high=FURTHEST_NUMBER, label=label, **kwargs)


class OutputForm(NamedForm):
    """The choice of what is sent for a total. Values in fields for other outputs are discarded."""

    output = forms.TypedChoiceField(
        label="What is scrambled and sent?",
        choices=Output.choices,
        initial=Output.TOTAL,
        help_text="Nothing but this code is sent. Later questions can depend on bands and a "
        "cut-off, but not on a total. Nobody can change bands or a cut-off after the opening.",
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), "Choose what is sent: total, bands or cut_off."
        ),
    )
    options = Lines(
        noun="band",
        required=False,
        least=LEAST_BANDS,
        most=MOST_BANDS,
        longest=MAX_OPTION_LENGTH,
        find_line_problem=_find_problem_with(parse_band),
        label="Only for bands: the totals and the name of each band, one band per line",
        help_text=f"From {LEAST_BANDS} to {MOST_BANDS}, such as “0–4 None”. Together, the bands "
        "contain each possible total once.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    cut_off = _total(
        "Only for a cut-off: the lowest total that reaches it",
        required=False,
        help_text="Such as 10 for “10 or more”.",
    )

    def _check_output(self, scale: Score) -> None:
        cleaned = self.cleaned_data
        bands = [parse_band(line) for line in cleaned.get("options", ())]
        if cleaned["output"] == Output.BANDS and not bands:
            self.add_error("options", "Enter at least 2 bands, one per line.")
        elif cleaned["output"] == Output.BANDS:
            problems = list(find_band_problems(bands, scale=scale))
            if problems and (offer := self._offer_bands(scale)):
                problems = [offer]
            for problem in problems:
                self.add_error("options", problem)
        elif problem := find_output_problem(self.candidate(), scale=scale):
            self.add_error("cut_off", problem)

    def _offer_bands(self, scale: Score) -> str:
        """If only the totals have changed, offer bands that fit. Saving again accepts these bands.

        Bands that the author is writing stay as they are.
        """
        lines = self.cleaned_data["options"]
        if self.question is None or lines != self.question.options:
            return ""
        if not (fitted := fit_bands(lines, scale=scale)):
            return ""
        old = join_list([f"“{line}”" for line in lines if line not in fitted])
        new = join_list([f"“{line}”" for line in fitted])
        low, high = map(write_number, (scale.minimum, scale.maximum))
        told = f"Totals now lie between {low} and {high}, which does not fit {old}."
        if self.in_editor:  # the editor never replaces fields while someone types
            return f"{told} These would fit: {new}."
        written = cast(QueryDict, self.data).copy()
        written["options"] = "\n".join(fitted)
        self.data = written
        return f"{told} The field now has {new}. Save again to accept this."

    def content(self) -> QuestionContent:
        content = super().content()
        if content["output"] != Output.BANDS:
            content["options"] = []
        if content["output"] != Output.CUT_OFF:
            content["cut_off"] = None
        return content

    def _example(self) -> Question | None:
        return None


class ScoreForm(OutputForm, ProtectedForm):
    """The form for a scale."""

    type = Question.Type.SCORE

    text = question_text(
        "introduction",
        "Introduction",
        help_text="It appears above the items and names the scale in results. Plain text, up to "
        f"{MAX_QUESTION_LENGTH:,} characters.",
    )
    scored_items = Lines(
        noun="item",
        least=LEAST_ITEMS,
        most=MOST_ITEMS,
        longest=MAX_ITEM_LENGTH,
        find_line_problem=_find_problem_with(parse_item),
        label="Items, one per line",
        help_text=f"From {LEAST_ITEMS} to {MOST_ITEMS}. Write “| reversed” after an item that "
        "counts the other way round, and “| ×2” after one that counts twice.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    scored_options = Lines(
        noun="answer",
        least=LEAST_OPTIONS,
        most=MOST_OPTIONS,
        longest=MAX_SCORED_OPTION_LENGTH,
        find_line_problem=_find_problem_with(_read_option),
        label="Answers to every item, one per line",
        help_text=f"From {LEAST_OPTIONS} to {MOST_OPTIONS}. Each begins with the whole number that "
        "it counts, such as “0 Never”. Without numbers, they count 0, 1, 2 and so on. Respondents "
        "do not see the numbers.",
        widget=forms.Textarea(attrs={"rows": 5}),
    )

    def __init__(self, data: Any = None, **given: Any) -> None:
        super().__init__(data, **given)
        typed = self.data.get("scored_options", "")
        if (numbered := number_options(typed)) != typed:
            written = cast(QueryDict, self.data).copy()
            written["scored_options"] = numbered
            self.data = written

    def _check(self) -> None:
        cleaned = self.cleaned_data
        if not {"scored_items", "scored_options", "output"} <= cleaned.keys():
            return
        items = list(map(parse_item, cleaned["scored_items"]))
        options = list(map(parse_option, cleaned["scored_options"]))
        self._refuse_equal("scored_items", [one.text for one in items])
        self._refuse_equal("scored_options", [one.text for one in options])
        scale = Score(items=tuple(items), options=tuple(options))
        if scale.minimum == scale.maximum:
            self.add_error("scored_options", "All answers count the same. Change a number.")
        elif scale.find_problem():
            self.add_error("scored_options", "The totals are too far apart. Use smaller numbers.")
        elif not self.errors:
            self._check_output(scale)

    def _refuse_equal(self, name: str, texts: Sequence[str]) -> None:
        """Reject lines that differ only in their values or marks."""
        seen: dict[str, int] = {}
        for number, text in enumerate(texts, start=1):
            first = seen.setdefault(fold(text), number)
            if first != number:
                self.add_error(name, f"“{text}” appears twice. Change one of the lines.")


class SecondForm(OutputForm):
    """The form for a second code of a scale, which is asked and declined with the scale."""

    type = Question.Type.SECOND
    field_order = (
        *("text", "same_fact", "output", "options", "cut_off"),
        *("flips", "name", "short_label"),
    )
    LAST = ("flips", "name", "short_label")

    text = question_text(
        "name",
        "Name in results",
        help_text="Such as “Strain in three bands”. Respondents read the name where they check "
        "their answers.",
    )
    same_fact = forms.TypedChoiceField(
        label="Scale",
        coerce=int,
        help_text="People answer the scale once. Both codes are about one fact, so their ε add up.",
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"),
            "Choose an earlier scale. If there is none, add one first.",
        ),
    )
    flips = ProtectedForm.base_fields["flips"]

    def _offer_facts(self) -> None:
        field = self.fields["same_fact"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [
            (question.pk, f"Q{number}: {Truncator(question.text).chars(60)}")
            for number, question in number_answered(self.earlier)
            if question.type == Question.Type.SCORE
        ]
        self.fields["output"].initial = Output.BANDS  # most scales send their total

    def _check(self) -> None:
        [*scales] = (one for one in self.earlier if one.pk == self.cleaned_data.get("same_fact"))
        if not scales or self.errors:
            return
        try:
            score = build_score(scales[0])
        except ValueError:  # in a definition, the scale may be invalid too
            score = None
        if score is None or score.find_problem():
            self.add_error("same_fact", "Correct the scale first.")
        else:
            self._check_output(score)

    def _count_answers(self) -> int:
        [scale] = (one for one in self.earlier if one.pk == self.cleaned_data["same_fact"])
        return (len(self.content()["options"]) or 2) + scale.refusal + bool(scale.rule)


class InformationForm(RuledForm):
    type = Question.Type.INFORMATION

    text = question_text(
        "text",
        "Text",
        help_text=f"Plain text, up to {MAX_QUESTION_LENGTH:,} characters.",
        lines=True,
    )

    def _example(self) -> Question | None:
        return None


class DeclaredForm(OptionsForm, NamedForm):
    type = Question.Type.DECLARED

    options = _options(MOST_GROUPS)
    refusal = refusal_switch(
        help_text="This option costs nothing. Results show how many people chose it, as for a "
        "group."
    )
    confirmed = forms.BooleanField(
        label="I understand that this answer is sent unprotected",
        error_messages={
            "required": "Tick the box if this answer may be sent unprotected. Otherwise, choose "
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
        ScoreForm,
        SecondForm,
        InformationForm,
        DeclaredForm,
    )
}
