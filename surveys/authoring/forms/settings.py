"""A survey's words, dates, crowd and random subset."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from surveys.authoring.forms.care import CareForm, declining_switch
from surveys.authoring.forms.publication import PublicationForm
from surveys.authoring.launch_checks import describe_early_deletion
from surveys.form_fields import MAX_PEOPLE, BrowserDay, BrowserMoment, PlainText, number_messages
from surveys.manifest.languages import LANGUAGES
from surveys.manifest.manifest import BATCHES_IN_CROWD, SMALLEST_USUAL_BATCH, Publication
from surveys.models import MAX_QUESTIONS, Survey
from surveys.survey_settings import MIN_BATCH_FLOOR

# A batch holds at most 65,536 reports, so K cannot be larger. This limit is above any useful K.
MAX_MINIMUM_BATCH = 10_000


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
        help_text="Say why you ask and what happens with the results. Plain text.",
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class CreateForm(SurveyTextForm):
    may_decline = declining_switch(initial=True)


class SettingsForm(PublicationForm, CareForm, SurveyTextForm):
    language = forms.ChoiceField(
        label="Language of the survey",
        choices=LANGUAGES,
        help_text="The language you write in. Respondents’ pages use it too. You add translations "
        "on a separate page.",
    )
    closing_message = PlainText(
        name="closing message",
        missing="",
        max_length=1000,
        required=False,
        lines=True,
        label="Closing message (optional)",
        help_text="People see it after they have sent their answers. Say where the results will "
        "be. Plain text.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    quick_exit = forms.BooleanField(
        label="Let people leave quickly",
        required=False,
        help_text="The button “Exit this page”, or pressing Shift three times, clears the answers "
        "and opens a neutral page. Windows and the browser’s history name every page only "
        "“Survey”. Use it if someone might be watching.",
    )
    coins = forms.BooleanField(
        label="Let people answer with two coins",
        required=False,
        help_text="For browsers without JavaScript, and on paper: people toss two coins for each "
        "yes/no question. Their reports are counted separately, with separate results, at 25 flips "
        "of 100. Other types of questions, and questions with “prefer not to say” or with a rule, "
        "are not asked there.",
    )
    minimum_batch = forms.IntegerField(
        label="Minimum batch K",
        min_value=MIN_BATCH_FLOOR,
        max_value=MAX_MINIMUM_BATCH,
        error_messages=number_messages(
            MIN_BATCH_FLOOR, MAX_MINIMUM_BATCH, " A batch of fewer than 10 protects nobody."
        ),
        help_text="Reports are counted only in sealed batches of at least K. Results move only "
        "when at least K reports, and a tenth of all, are new, and once more at the close. While "
        "the survey is open, K reports always wait, so that the last batch is full too. The first "
        "batch is therefore sealed once 2K reports have arrived. K counts reports, not honest "
        "people: someone who floods the survey with made-up reports shrinks the crowd that a "
        f"person hides in. With a K of {SMALLEST_USUAL_BATCH}, singling one person out takes at "
        f"least {SMALLEST_USUAL_BATCH - 1} made-up reports. Below that, you must acknowledge the "
        "risk when you open the survey.",
    )
    display_minimum = forms.IntegerField(
        label="Fewest reports for results",
        min_value=MIN_BATCH_FLOOR,
        max_value=MAX_PEOPLE,
        error_messages=number_messages(MIN_BATCH_FLOOR, MAX_PEOPLE),
        help_text=f"Results need this many reports, and at least {BATCHES_IN_CROWD} × K.",
    )
    opens_at = BrowserMoment(
        label="Opening date, in UTC (optional)",
        help_text="Leave it empty to accept reports as soon as you open the survey.",
    )
    closes_at = BrowserMoment(label="Closing date, in UTC (optional)")
    delete_on = BrowserDay(
        label="Deletion date (optional)",
        help_text="From 0:00 UTC of this day on, the survey is deleted with everything that it "
        "collected, as if you had deleted it by hand. If it is still open, it closes then. "
        "Respondents are told this day, so nobody can move it later. You can delete the survey "
        "earlier. In the last week, the survey’s pages warn you, and you get an e-mail if this "
        "server sends any.",
    )
    cap = forms.IntegerField(
        label="Close when this many people have answered (optional)",
        required=False,
        max_value=MAX_PEOPLE,
        error_messages=number_messages(MIN_BATCH_FLOOR, MAX_PEOPLE, " Or leave it empty."),
        help_text="With fewer people than results need (see “Crowd” below), the survey has no "
        "exact results.",
    )
    people_expected = forms.IntegerField(
        label="How many people do you expect to answer? (optional)",
        required=False,
        min_value=MIN_BATCH_FLOOR,
        max_value=MAX_PEOPLE,
        error_messages=number_messages(MIN_BATCH_FLOOR, MAX_PEOPLE, " Or leave it empty."),
        help_text="Results appear, and move, only when at least a tenth as many reports are new, "
        "and when the survey closes. If far fewer people answer, nothing is shown until then. "
        "Margins of error shown before the close suit this number best, and hold for any.",
    )
    drawn = forms.IntegerField(
        label="Questions per person (random subset), in blocks (optional)",
        required=False,
        min_value=1,
        max_value=MAX_QUESTIONS,
        error_messages=number_messages(
            1, MAX_QUESTIONS, " Or leave it empty to ask everyone everything."
        ),
    )

    def __init__(self, *args: Any, blocks: int | None = None, **kwargs: Any) -> None:
        """`blocks`: how many blocks the survey's questions form; None if it does not matter."""
        super().__init__(*args, **kwargs)
        self.blocks = blocks

    @classmethod
    def from_survey(cls, survey: Survey, *, blocks: int | None = None) -> SettingsForm:
        limits = cls.read_limits(survey)
        stored = {name: getattr(survey, name) for name in cls.base_fields if name not in limits}
        initial = stored | limits
        return cls(initial=initial, blocks=blocks)

    def clean_drawn(self) -> int | None:
        drawn: int | None = self.cleaned_data["drawn"]
        if drawn is None or self.blocks is None or drawn < self.blocks:
            return drawn
        if self.blocks < 2:
            problem = (
                "There is nothing to draw from: the questions form fewer than two blocks. Leave "
                "it empty."
            )
        else:
            problem = (
                f"The questions form {self.blocks} blocks. Enter a whole number from 1 to "
                f"{self.blocks - 1}, or leave it empty to ask everyone everything."
            )
        raise ValidationError(problem, code="too_many")

    def clean_opens_at(self) -> datetime | None:
        return self._in_future(
            "opens_at",
            "The opening date has passed. Choose a later one, or leave it empty to accept "
            "reports as soon as you open the survey.",
        )

    def clean_closes_at(self) -> datetime | None:
        # Not clean yet, and the survey needs a date if it is this one.
        is_protected = self.data.get("publication") == Publication.PROTECTED
        return self._in_future(
            "closes_at",
            "The closing date has passed. Choose a later one"
            f"{'' if is_protected else ' or leave it empty'}.",
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
            "Results cannot need fewer reports than K ({first:,}): they exist only for whole "
            "batches.",
        )
        self._compare(
            "display_minimum",
            "cap",
            lambda display, cap: cap >= display,
            "A survey that closes after {second:,} people would never show a result, because "
            "results need at least {first:,}. Raise this number or lower “Fewest reports”.",
        )
        self._compare(
            "display_minimum",
            "people_expected",
            lambda display, people: people >= display,
            "If {second:,} people answer, no result is ever shown, because results need at least "
            "{first:,}. Raise this number or lower “Fewest reports”.",
        )
        self._compare(
            "cap",
            "people_expected",
            lambda cap, people: people <= cap,
            "The survey closes when {first:,} people have answered, so you cannot expect "
            "{second:,}. Lower this number or raise the other.",
        )
        self._compare(
            "opens_at",
            "closes_at",
            lambda opens, closes: closes > opens,
            "The closing date must come after the opening date. Choose a later one.",
        )
        problem = describe_early_deletion(
            delete_on=cleaned.get("delete_on"),
            opens=cleaned.get("opens_at"),
            closes=cleaned.get("closes_at"),
            now=timezone.now(),
        )
        if problem:
            self.add_error("delete_on", problem)
        if cleaned.get("coins") and cleaned.get("may_decline"):
            self.add_error(
                "may_decline",
                "Two coins can only say Yes or No. Switch this off, or switch the two coins off.",
            )
        return cleaned

    def _compare(
        self, first: str, second: str, agree: Callable[[Any, Any], bool], problem: str
    ) -> None:
        """Add the problem to the second field if both are filled in and do not agree."""
        one, other = self.cleaned_data.get(first), self.cleaned_data.get(second)
        if one is not None and other is not None and not agree(one, other):
            self.add_error(second, problem.format(first=one, second=other))
