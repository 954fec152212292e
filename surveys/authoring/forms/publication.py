"""The form that sets what anyone may read of the results, and how much releases may reveal."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django import forms

from surveys.form_fields import DecimalInRange, WholeNumber
from surveys.formatting import whole
from surveys.manifest.manifest import (
    HUNDREDTHS,
    LEAST_RELEASE_EPSILON,
    MOST_RELEASE_DELTA,
    MOST_RELEASE_EPSILON,
    NANOS,
    Publication,
    largest_release_delta,
)
from surveys.manifest.readers import Loss
from surveys.models.settings import SurveySettings
from surveys.respondent.label.guesses import write_guess

# The sentences under each choice. The page shows the inputs for ε and δ only under the last one.
DETAILS = {
    Publication.NONE: "You decide who sees the results.",
    Publication.EXACT: (
        "A public page shows the estimates and intervals for everyone together. It does not hide "
        "that a person took part."
    ),
    Publication.PROTECTED: (
        "The page shows only figures with random noise. You plan these figures below the "
        "questions. The noise limits what readers can learn about any one person. The survey must "
        "close on a date, not after a number of people."
    ),
}
# The values of ε that the page explains.
CAPS = (0.5, 1.0, 2.0, 3.0)


class PublicationForm(forms.Form):
    """The choice of publication, and the limits ε and δ, which only protected publication uses."""

    publication = forms.ChoiceField(
        label="What may anyone see?", choices=Publication.choices, widget=forms.RadioSelect
    )
    release_epsilon = DecimalInRange(
        f"{LEAST_RELEASE_EPSILON / HUNDREDTHS:.2f}",
        f"{MOST_RELEASE_EPSILON / HUNDREDTHS:.2f}",
        what="the cap",
        label="Cap on what all figures together may reveal about taking part (ε)",
        help_text="With the usual cap of 1.00, a reader’s guess about whether a person took part "
        "is right at most 74 times in 100, instead of 50. A larger cap allows more figures, or "
        "more precise ones. Nobody can raise the cap after the opening.",
    )
    release_delta_nanos = WholeNumber(
        low=0,
        high=MOST_RELEASE_DELTA,
        label="δ, in billionths",
        help_text=f"The usual value is {whole(MOST_RELEASE_DELTA)}: one in a million. This value "
        "lets a table of many questions use a different kind of noise, which is smaller for such "
        "tables. A δ of 0 rules out this noise. δ can be at most 1 divided by ten times the number "
        "of people you expect.",
    )

    @property
    def choices(self) -> list[tuple[Any, str]]:
        """Each radio button and the sentence under it."""
        return list(zip(self["publication"], DETAILS.values(), strict=True))

    @property
    def caps(self) -> Iterator[tuple[float, str, str]]:
        """Values of ε, each with two numbers: how many of 100 guesses can be right.

        The first number is for guesses about taking part, and the second for guesses about an
        unscrambled answer. δ has the largest value that the form accepts.
        """
        for cap in CAPS:
            once = Loss(epsilon=cap, delta=MOST_RELEASE_DELTA / NANOS)
            taking_part, answer = once.guess_epsilon, once.replaced.guess_epsilon
            yield cap, write_guess(taking_part), write_guess(answer)

    @staticmethod
    def read_limits(survey: SurveySettings) -> dict[str, Any]:
        """Return the limits of a survey as the form shows them."""
        return {
            "release_epsilon": (Decimal(survey.release_epsilon_hundredths) / HUNDREDTHS).quantize(
                Decimal("0.01")
            ),
            "release_delta_nanos": survey.release_delta_nanos,
        }

    def value_of(self, name: str) -> Any:
        """Return a typed value, or None if it is missing or invalid."""
        return self.cleaned_data.get(name)

    def refuse(self, **problems: str) -> None:
        """Show a problem at the first of these fields in the form, with the text for that field."""
        for name, problem in problems.items():
            if name in self.fields:
                self.add_error(name, problem)
                return

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.value_of("publication") != Publication.PROTECTED:
            # The page hides these inputs, so whatever they contain is ignored.
            for name in ("release_epsilon", "release_delta_nanos"):
                self.errors.pop(name, None)
                cleaned.pop(name, None)
            return cleaned
        if "release_epsilon" in cleaned:
            epsilon: Decimal = cleaned.pop("release_epsilon")
            cleaned["release_epsilon_hundredths"] = int(HUNDREDTHS * epsilon)
        if self.value_of("cap") is not None:
            why = (
                "A survey with protected figures cannot close after a number of people, because "
                "the close would publish how many took part."
            )
            self.refuse(
                cap=f"{why} Leave it empty and set a closing date.",
                publication=f"{why} Remove the number on the page “Start and end” first.",
            )
        people, delta = self.value_of("people_expected"), self.value_of("release_delta_nanos")
        if people and delta and delta > largest_release_delta(people):
            largest = whole(largest_release_delta(people))
            most = f"If you expect {whole(people)} people, δ can be at most {largest} billionths."
            self.refuse(
                release_delta_nanos=f"{most} Enter this number or a smaller one.",
                people_expected=f"{most} Lower it on the page “Privacy” first.",
            )
        return cleaned
