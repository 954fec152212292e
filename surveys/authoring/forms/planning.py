"""The planner's form, which a researcher fills in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.form_fields import DecimalInRange, number_messages
from surveys.manifest.strength import OFFERED_FLIPS, TWO_COINS
from surveys.models import MAX_QUESTIONS
from surveys.models.settings import MAX_PEOPLE
from surveys.planning.assumptions import DIFFERENCE, MARGIN, PEOPLE, SHARE
from surveys.planning.plan_input import Decider, PlanInput

CHANGED = "The link to this plan was changed. Open the plan again from the draft."
_OFFERED = ", ".join(map(str, OFFERED_FLIPS[:-1]))


class PlanForm(forms.Form):
    """A researcher's expectations and goals. Shares are entered as percentages."""

    share = DecimalInRange(
        "0.1",
        "99.9",
        what="the expected share",
        label="Expected share of the answer, in %",
        help_text="The share of people who will give the answer that you plan for, such as Yes. "
        "Other studies may help you guess.",
    )
    people = forms.IntegerField(
        label="People who will answer",
        min_value=1,
        max_value=MAX_PEOPLE,
        error_messages=number_messages(1, MAX_PEOPLE, what="the number of people"),
    )
    margin = DecimalInRange(
        "0.5",
        "49",
        what="the precision",
        label="Precision you want, ± points",
        help_text="Half the width of the interval, such as 3.",
    )
    flips = forms.IntegerField(
        label="Flips of 100",
        min_value=1,
        max_value=49,
        error_messages=number_messages(1, 49, what="the flips"),
        help_text="How many of 100 people with one answer send the other answer’s code. "
        f"Two coins correspond to {TWO_COINS}. The question form offers {_OFFERED} and "
        f"{OFFERED_FLIPS[-1]}.",
    )
    questions = forms.IntegerField(
        label="Protected questions",
        help_text="If people can choose several options, count each option, because each sends its "
        "own code.",
        min_value=1,
        max_value=MAX_QUESTIONS,
        error_messages=number_messages(1, MAX_QUESTIONS, what="the number of questions"),
    )
    options = forms.IntegerField(
        label="Answers to choose from",
        min_value=2,
        max_value=MAX_SYMBOLS,
        error_messages=number_messages(2, MAX_SYMBOLS, what="the number of answers"),
        help_text="Enter 2 for yes and no. The expected share is the share of one answer.",
    )
    refusing = DecimalInRange(
        "0",
        "90",
        what="the percentage who prefer not to say",
        label="People who prefer not to say, in %",
        required=False,
        help_text="Leave it empty if the question does not offer “Prefer not to say”. Otherwise, "
        "the expected share counts only those who answer.",
    )
    asked = DecimalInRange(
        "1",
        "99.9",
        what="the percentage who are asked",
        label="People who are asked, in %",
        required=False,
        help_text="Leave it empty if everyone is asked. If a rule decides by the answer to "
        "one yes/no question of this strength, the expected share counts only those who are asked.",
    )
    # Links from a draft fill in this field (surveys.planning.plan_input.Decider).
    decided = forms.RegexField(
        r"^\d{1,2}-\d{1,2}-\d{1,2}$",
        label="What decides who is asked",
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid": CHANGED},
    )
    part = DecimalInRange(
        "1",
        "100",
        what="the percentage who get the question",
        label="People who get the question, in %",
        required=False,
        help_text="Leave it empty unless each person is asked a random subset of the questions.",
    )
    figure = forms.ChoiceField(
        label="What do you want to know?",
        choices=[
            ("share", "The share of people who give an answer"),
            ("mean", "The mean of a number (in % of its range)"),
        ],
        error_messages={
            "required": "Choose what you want to know.",
            "invalid_choice": "Choose a share or a mean.",
        },
    )
    difference = DecimalInRange(
        "0.5",
        "90",
        what="the difference",
        label="Smallest difference between two groups that you want to find, in points",
        help_text="The two groups come from a question that is not scrambled.",
    )
    closing = forms.ChoiceField(
        label="How will the survey end?",
        choices=[
            ("fixed", "At a date or number of people fixed before it opens"),
            ("watched", "When I decide, while watching the results"),
        ],
        error_messages={
            "required": "Choose how the survey will end.",
            "invalid_choice": "Choose one of the endings in the list.",
        },
    )

    DEFAULTS = {
        "share": f"{100 * SHARE:g}",
        "margin": f"{100 * MARGIN:g}",
        "people": str(PEOPLE),
        "flips": str(TWO_COINS),
        "questions": "1",
        "options": "2",
        "refusing": "",
        "asked": "",
        "decided": "",
        "part": "",
        "figure": "share",
        "difference": f"{100 * DIFFERENCE:g}",
        "closing": "fixed",
    }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PlanForm:
        """Fill in the form from a query string, with defaults for missing values. 7,5 means 7.5."""
        return cls(
            {name: query.get(name, value).replace(",", ".") for name, value in cls.DEFAULTS.items()}
        )

    def clean_decided(self) -> Decider | None:
        text: str = self.cleaned_data["decided"]
        if not text:
            return None
        decider = Decider.parse(text)
        if decider.codes and not (decider.is_possible and decider.codes <= MAX_SYMBOLS):
            raise forms.ValidationError(CHANGED)
        return decider

    @property
    def goes_beyond_yes_and_no(self) -> bool:
        """Whether the folded section of the form has an error or a value other than its default."""
        names = ("options", "refusing", "asked", "part", "figure", "difference")
        return any(self[name].errors or self[name].value() != self.DEFAULTS[name] for name in names)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        extras = sum(cleaned.get(name) is not None for name in ("refusing", "asked"))
        if extras + cleaned.get("options", 0) > MAX_SYMBOLS:
            self.add_error(
                "options",
                f"With “prefer not to say” and “not asked”, a question can have {MAX_SYMBOLS} "
                f"codes at most. Enter at most {MAX_SYMBOLS - extras} answers.",
            )
        if cleaned.get("figure") == "mean" and cleaned.get("options", 2) != 2:
            self.add_error(
                "options",
                "For a mean, a number is rounded to one of the two ends of its range. Enter 2.",
            )
        return cleaned

    def read(self) -> PlanInput:
        """Return the input of the plan. The form must be valid."""
        values = self.cleaned_data
        refusing, asked = values["refusing"], values["asked"]
        return PlanInput(
            share=float(values["share"]) / 100,
            people=values["people"],
            margin=float(values["margin"]) / 100,
            flips=values["flips"],
            questions=values["questions"],
            options=values["options"],
            refusal=refusing is not None,
            refusing=float(refusing or 0) / 100,
            rule=asked is not None,
            asked=1.0 if asked is None else float(asked) / 100,
            decided=values["decided"],
            part=float(100 if values["part"] is None else values["part"]) / 100,
            mean=values["figure"] == "mean",
            difference=float(values["difference"]) / 100,
            watched=values["closing"] == "watched",
        )
