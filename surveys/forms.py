"""What authors type: shape and range of each input, with errors that say what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from privacy.mechanisms import MAX_SYMBOLS
from surveys.models import (
    MAX_QUESTION_LENGTH,
    MAX_QUESTIONS,
    MIN_BATCH_FLOOR,
    Question,
    Survey,
)
from surveys.planner import PlanInput
from surveys.strength import OFFERED_FLIPS, TWO_COINS, describe_strength

# A batch holds 65,536 reports at most, and one needs K; far above anything useful.
MAX_MINIMUM_BATCH = 10_000
MAX_PEOPLE = 100_000_000
BROWSER_MOMENT = "%Y-%m-%dT%H:%M"


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") and character != "\n"


def _shows_something(text: str) -> bool:
    return any(unicodedata.category(character)[0] not in "CZ" for character in text)


class PlainText(forms.CharField):
    """Text as people write it, shown later exactly as text.

    The browser's maxlength is left out on purpose: it would cut pasted text silently.
    """

    def __init__(self, *, name: str, missing: str, max_length: int, **kwargs: Any) -> None:
        self.lines = kwargs.pop("lines", False)
        super().__init__(
            max_length=max_length,
            error_messages={
                "required": missing,
                "max_length": f"The {name} has %(show_value)d characters. "
                "Shorten it to %(limit_value)d or fewer.",
            },
            **kwargs,
        )
        self._control_error = (
            f"The {name} contains an invisible control character. "
            "Delete the text and type it anew, or paste it as plain text."
        )
        # Django's own check for NUL would say the same a second time.
        self.validators = [v for v in self.validators if "Null" not in type(v).__name__]

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        attrs = super().widget_attrs(widget)
        attrs.pop("maxlength", None)
        return attrs

    def to_python(self, value: Any) -> str:
        text = (super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")
        text = text.replace("\t", " ")
        if not self.lines:
            text = text.replace("\n", " ")
        return text if _shows_something(text) or any(map(_is_control, text)) else ""

    def validate(self, value: str) -> None:
        if any(map(_is_control, value)):
            raise ValidationError(self._control_error, code="control_character")
        super().validate(value)


class SurveyTextForm(forms.Form):
    title = PlainText(
        name="title",
        missing="Enter a title.",
        max_length=200,
        help_text="Respondents see it at the top of the first page.",
    )
    introduction = PlainText(
        name="introduction",
        missing="",
        max_length=2000,
        required=False,
        lines=True,
        label="Introduction (optional)",
        help_text="Who asks, what for, and what happens with the results. Plain text.",
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class BrowserMoment(forms.DateTimeField):
    """A moment from a datetime-local control, in UTC."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=BROWSER_MOMENT)
        super().__init__(
            required=False,
            widget=widget,
            error_messages={
                "invalid": "Enter a date and a time, such as 2027-03-31 18:00, or leave it empty."
            },
            **kwargs,
        )


def _number_messages(low: int, high: int, why: str = "") -> dict[str, str]:
    text = f"Enter a whole number from {low:,} to {high:,}.{why}"
    return {"required": text, "invalid": text, "min_value": text, "max_value": text}


def _decimal_range(low: str, high: str, *, what: str) -> dict[str, Any]:
    text = f"Enter {what} as a number from {low} to {high}."
    return {
        "min_value": Decimal(low),
        "max_value": Decimal(high),
        "max_digits": 6,
        "decimal_places": 2,
        "widget": forms.NumberInput(attrs={"step": "any"}),
        "error_messages": dict.fromkeys(
            (
                "required",
                "invalid",
                "min_value",
                "max_value",
                "max_digits",
                "max_decimal_places",
                "max_whole_digits",
            ),
            text,
        ),
    }


class SettingsForm(SurveyTextForm):
    minimum_batch = forms.IntegerField(
        label="Minimum batch K",
        min_value=MIN_BATCH_FLOOR,
        max_value=MAX_MINIMUM_BATCH,
        error_messages=_number_messages(
            MIN_BATCH_FLOOR, MAX_MINIMUM_BATCH, " Fewer than 10 reports are too small a crowd."
        ),
        help_text="Reports are counted only in sealed batches of at least K; what comes in "
        "between changes nothing that anyone can see. K counts reports, not honest people: "
        "someone who floods the survey with made-up reports shrinks the crowd that a person "
        "hides in.",
    )
    display_minimum = forms.IntegerField(
        label="Display minimum",
        min_value=MIN_BATCH_FLOOR,
        max_value=MAX_PEOPLE,
        error_messages=_number_messages(MIN_BATCH_FLOOR, MAX_PEOPLE),
        help_text="Below this number of reports, results say only “too few responses”. "
        "Never below K.",
    )
    opens_at = BrowserMoment(
        label="Opening date, in UTC (optional)",
        help_text="Leave it empty to take reports as soon as you open the survey.",
    )
    closes_at = BrowserMoment(label="Closing date, in UTC (optional)")
    cap = forms.IntegerField(
        label="Close when this many people have answered (optional)",
        required=False,
        max_value=MAX_PEOPLE,
        error_messages=_number_messages(MIN_BATCH_FLOOR, MAX_PEOPLE, " Or leave it empty."),
    )

    @classmethod
    def from_survey(cls, survey: Survey) -> SettingsForm:
        return cls(initial={name: getattr(survey, name) for name in cls.base_fields})

    def clean_opens_at(self) -> datetime | None:
        return self._in_future(
            "opens_at",
            "The opening date has passed. Choose a later one, or leave it empty to take "
            "reports as soon as you open the survey.",
        )

    def clean_closes_at(self) -> datetime | None:
        return self._in_future(
            "closes_at", "The closing date has passed. Choose a later one or leave it empty."
        )

    def _in_future(self, name: str, problem: str) -> datetime | None:
        value: datetime | None = self.cleaned_data[name]
        if value is not None and value <= timezone.now():
            raise ValidationError(problem, code="past")
        return value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._compare(
            "minimum_batch",
            "display_minimum",
            lambda batch, display: display >= batch,
            "The display minimum cannot be below K ({first:,}): "
            "results exist only for whole batches.",
        )
        self._compare(
            "display_minimum",
            "cap",
            lambda display, cap: cap >= display,
            "A survey that closes after {second:,} people would never show a result, because "
            "results need {first:,}. Raise this number or lower the display minimum.",
        )
        self._compare(
            "opens_at",
            "closes_at",
            lambda opens, closes: closes > opens,
            "The closing date must come after the opening date. Choose a later one.",
        )
        return cleaned

    def _compare(
        self, first: str, second: str, agree: Callable[[Any, Any], bool], problem: str
    ) -> None:
        """Put the problem at the second field if both are there and do not agree."""
        one, other = self.cleaned_data.get(first), self.cleaned_data.get(second)
        if one is not None and other is not None and not agree(one, other):
            self.add_error(second, problem.format(first=one, second=other))


class PlanForm(forms.Form):
    """What is expected and wanted of a survey; shares in per cent, as people say them."""

    share = forms.DecimalField(
        label="Expected share of Yes, in %",
        help_text="Your best guess; from other studies, say.",
        **_decimal_range("0.1", "99.9", what="the expected share"),
    )
    people = forms.IntegerField(
        label="People who will answer",
        min_value=1,
        max_value=MAX_PEOPLE,
        error_messages=_number_messages(1, MAX_PEOPLE),
    )
    margin = forms.DecimalField(
        label="Wanted precision, ± points",
        help_text="Half of the interval's width.",
        **_decimal_range("0.5", "49", what="the precision"),
    )
    flips = forms.IntegerField(
        label="Flips of 100",
        min_value=1,
        max_value=49,
        error_messages=_number_messages(1, 49),
        help_text="Of 100 people with one answer, how many send the other one's code. "
        "Two coins make 25; questions offer 40, 33, 25, 20, 12 and 5.",
    )
    questions = forms.IntegerField(
        label="Protected questions",
        min_value=1,
        max_value=MAX_QUESTIONS,
        error_messages=_number_messages(1, MAX_QUESTIONS),
    )
    options = forms.IntegerField(
        label="Answers to choose from",
        min_value=2,
        max_value=MAX_SYMBOLS - 1,
        error_messages=_number_messages(2, MAX_SYMBOLS - 1),
        help_text="2 for yes and no, which is what questions offer today. The expected share is "
        "that of one of them.",
    )
    refusing = forms.DecimalField(
        label="Who prefer not to say, in %",
        required=False,
        help_text="Leave it empty if the question offers no such answer, as none does today. The "
        "expected share is then among those who answer.",
        **_decimal_range("0", "90", what="who prefer not to say"),
    )
    difference = forms.DecimalField(
        label="Difference between two groups worth finding, in points",
        help_text="Of two groups whose members are known; surveys have no such groups today.",
        **_decimal_range("0.5", "90", what="the difference"),
    )
    closing = forms.ChoiceField(
        label="How will the survey end?",
        choices=[
            ("fixed", "By a date or number of people fixed before it opens"),
            ("watched", "Whenever I decide, looking at the results"),
        ],
        error_messages={
            "required": "Choose how the survey will end.",
            "invalid_choice": "Choose one of the ways to end in the list.",
        },
    )

    DEFAULTS = {
        "share": "20",
        "margin": "5",
        "people": "400",
        "flips": "25",
        "questions": "1",
        "options": "2",
        "refusing": "",
        "difference": "10",
        "closing": "fixed",
    }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PlanForm:
        """What is missing from the address is taken from the defaults; 7,5 means 7.5."""
        return cls(
            {name: query.get(name, value).replace(",", ".") for name, value in cls.DEFAULTS.items()}
        )

    @property
    def goes_beyond_yes_and_no(self) -> bool:
        """Whether the folded part of the form holds something that counts."""
        names = ("options", "refusing", "difference")
        return any(self[name].errors or self[name].value() != self.DEFAULTS[name] for name in names)

    def read(self) -> PlanInput:
        """The plan's input, once the form is valid."""
        values = self.cleaned_data
        refusing = values["refusing"]
        return PlanInput(
            share=float(values["share"]) / 100,
            people=values["people"],
            margin=float(values["margin"]) / 100,
            flips=values["flips"],
            questions=values["questions"],
            options=values["options"],
            refusal=refusing is not None,
            refusing=float(refusing or 0) / 100,
            difference=float(values["difference"]) / 100,
            watched=values["closing"] == "watched",
        )


class QuestionForm(forms.Form):
    text = PlainText(
        name="question",
        missing="Enter the question.",
        max_length=MAX_QUESTION_LENGTH,
        label="Question",
        help_text="One that can be answered with yes or no, such as “Have you ever driven "
        "after drinking?”. Plain text, up to 1,000 characters.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    flips = forms.TypedChoiceField(
        label="How strongly is each answer protected?",
        coerce=int,
        initial=TWO_COINS,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose how strongly the answers are protected.",
            "invalid_choice": "Choose one of the strengths in the list.",
        },
    )

    def __init__(self, *args: Any, question: Question | None = None, **kwargs: Any) -> None:
        if question is not None:
            kwargs["initial"] = {"text": question.text, "flips": question.flips}
        super().__init__(*args, **kwargs)
        offered = list(OFFERED_FLIPS)
        if question is not None and question.flips not in offered:
            offered.append(question.flips)  # made outside these pages; keep it choosable
        flips = self.fields["flips"]
        assert isinstance(flips, forms.TypedChoiceField)
        flips.choices = [(number, describe_strength(number).name) for number in offered]
