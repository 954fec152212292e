"""Who asks and who helps, and what people agree to, may decline and leave behind."""

from __future__ import annotations

from django import forms

from surveys.authoring.forms.fields import PlainText, WholeNumber
from surveys.manifest.questions import REFUSED_TEXT
from surveys.survey_settings import HIGHEST_MINIMUM_AGE, LOWEST_MINIMUM_AGE


def _line(name: str, *, max_length: int, label: str, help_text: str) -> PlainText:
    return PlainText(
        name=name,
        missing="",
        required=False,
        max_length=max_length,
        label=f"{label} (optional)",
        help_text=help_text,
    )


class CareForm(forms.Form):
    organization = _line(
        "organization",
        max_length=120,
        label="Organization",
        help_text="Respondents read it first, above the title.",
    )
    contact = _line(
        "contact",
        max_length=200,
        label="Contact for questions",
        help_text="An e-mail address or a phone number.",
    )
    help_name = _line(
        "name",
        max_length=120,
        label="Who helps",
        help_text="If questions can upset people: the name of a place that helps. Every page and "
        "the last one show it.",
    )
    help_phone = _line(
        "phone number", max_length=40, label="Phone number of the help", help_text="Such as 112."
    )
    help_url = _line(
        "web address",
        max_length=300,
        label="Web address of the help",
        help_text="It begins with https://.",
    )
    consent = PlainText(
        name="text",
        missing="",
        max_length=10_000,
        required=False,
        lines=True,
        label="What people agree to (optional)",
        help_text="People read it after Start and tick “I have read this and I agree”. That they "
        "agreed is sent nowhere. Plain text.",
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    minimum_age = WholeNumber(
        low=LOWEST_MINIMUM_AGE,
        high=HIGHEST_MINIMUM_AGE,
        why=" Or leave it empty.",
        required=False,
        label="Minimum age in years (optional)",
        help_text="People tick that they are old enough. Their age is sent nowhere.",
    )
    may_decline = forms.BooleanField(
        label=f"Offer “{REFUSED_TEXT}”",
        required=False,
        help_text="Questions offer it unless you switch it off there.",
    )
    shared_devices = forms.BooleanField(
        label="People share a device",
        required=False,
        help_text="The browser keeps nothing once a code is sent, and the last page offers the "
        "next person a start.",
    )
