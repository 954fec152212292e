"""The form for the number of people who were invited."""

from __future__ import annotations

from typing import Any

from django import forms

from surveys.formatting import whole

MOST_PEOPLE = 2_000_000_000  # fits into every database's integer
TOO_FEW = (
    "The survey has {reports} reports, so at least as many people were invited. With fewer, the "
    "response rate would be above 100 %."
)
NOT_WHOLE = "Enter a whole number, such as 2500, or leave the field empty."


class PeopleInvitedForm(forms.Form):
    people_invited = forms.IntegerField(
        label="People invited",
        help_text="How many people got the invitation. The report then shows the response rate: "
        "reports ÷ people invited. AAPOR calls this Response Rate 1 if everyone invited could "
        "take part. Leave it empty if you do not know.",
        required=False,
        min_value=1,
        max_value=MOST_PEOPLE,
        error_messages={
            "invalid": NOT_WHOLE,
            "min_value": NOT_WHOLE,
            "max_value": "That is more people than there are to invite.",
        },
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, stated: int | None, reports: int) -> None:
        super().__init__(data, initial={"people_invited": stated})
        self._reports = reports

    def clean_people_invited(self) -> int | None:
        people: int | None = self.cleaned_data["people_invited"]
        if people is not None and people < self._reports:
            raise forms.ValidationError(TOO_FEW.format(reports=whole(self._reports)))
        return people
