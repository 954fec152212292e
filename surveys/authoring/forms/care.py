"""Who asks and who helps, and what people agree to, may decline and leave behind."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from surveys.form_fields import PlainText, WholeNumber
from surveys.links import FEWEST_DIGITS, MOST_DIGITS, count_digits, is_written_like_phone
from surveys.manifest.plain_text import fold
from surveys.manifest.questions import REFUSED_TEXT
from surveys.survey_settings import HIGHEST_MINIMUM_AGE, LOWEST_MINIMUM_AGE

# Hosts that forward people to another address and record who followed the link.
FORWARDING = (
    "bit.ly",
    "buff.ly",
    "cutt.ly",
    "eepurl.com",
    "goo.gl",
    "is.gd",
    "l.facebook.com",
    "lnkd.in",
    "ow.ly",
    "rb.gy",
    "rebrand.ly",
    "safelinks.protection.outlook.com",
    "shorturl.at",
    "t.co",
    "t.ly",
    "t1p.de",
    "tiny.cc",
    "tinyurl.com",
    "v.gd",
)


def _line(name: str, *, max_length: int, label: str, help_text: str, type_: str = "") -> PlainText:
    attrs = {"inputmode": type_, "autocomplete": "off"} if type_ else {}
    return PlainText(
        name=name,
        missing="",
        required=False,
        max_length=max_length,
        label=f"{label} (optional)",
        help_text=help_text,
        widget=forms.TextInput(attrs=attrs),
    )


def declining_switch(**options: Any) -> forms.BooleanField:
    return forms.BooleanField(
        label="Let people decline to answer",
        required=False,
        help_text=f"Questions offer “{REFUSED_TEXT}”. You can change that for each question.",
        **options,
    )


class CareForm(forms.Form):
    organization = _line(
        "organization",
        max_length=120,
        label="Your organization",
        help_text="People read it first, above the title.",
    )
    contact = _line(
        "contact",
        max_length=200,
        label="Contact for questions about the survey",
        help_text="An e-mail address or a phone number. Every page shows it.",
    )
    notice_url = _line(
        "web address",
        max_length=200,
        label="Address of your privacy notice",
        help_text="Every respondent can open it. It begins with https://, without ? and #.",
        type_="url",
    )
    approval = _line(
        "number",
        max_length=80,
        label="Ethics or approval number",
        help_text="For example, the number that your ethics committee gave the study.",
    )
    help_name = _line(
        "name",
        max_length=120,
        label="Who helps",
        help_text="A helpline or a person to turn to, if questions may upset people. Every page "
        "shows it.",
    )
    help_phone = _line(
        "phone number",
        max_length=40,
        label="Their phone number",
        help_text="One number, such as 112.",
        type_="tel",
    )
    help_url = _line(
        "web address",
        max_length=300,
        label="Their web address",
        help_text="It begins with https://, without ? and #.",
        type_="url",
    )
    consent = PlainText(
        name="text",
        missing="",
        max_length=10_000,
        required=False,
        lines=True,
        label="What people agree to (optional)",
        help_text="People read it after “Start”, tick “I have read this and I agree” and go on. "
        "Nothing about that is sent or stored. Plain text.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    minimum_age = WholeNumber(
        low=LOWEST_MINIMUM_AGE,
        high=HIGHEST_MINIMUM_AGE,
        why=" Or leave it empty.",
        required=False,
        label="Minimum age in years (optional)",
        help_text="People tick that they are at least this old. Nothing about that is sent or "
        "stored.",
    )
    may_decline = declining_switch()
    shared_devices = forms.BooleanField(
        label="Several people answer on one device",
        required=False,
        help_text="As when an interviewer hands it over. Once a code is sent, the survey keeps "
        "nothing in the browser, so it cannot tell who has answered, and the last page starts "
        "again for the next person.",
    )

    def clean_help_phone(self) -> str:
        phone: str = self.cleaned_data["help_phone"]
        digits = count_digits(phone)
        if phone and not is_written_like_phone(phone):
            problem = (
                "Enter one phone number: digits, spaces and + ( ) - / . only. An extension "
                "follows “ext”."
            )
        elif phone and digits < FEWEST_DIGITS:
            problem = f"Enter a phone number with at least {FEWEST_DIGITS} digits, such as 112."
        elif digits > MOST_DIGITS:
            problem = f"A phone number has at most {MOST_DIGITS} digits. Enter one number only."
        else:
            return phone
        raise ValidationError(problem, code="phone")

    def clean_notice_url(self) -> str:
        return self._clean_address("notice_url")

    def clean_help_url(self) -> str:
        return self._clean_address("help_url")

    def _clean_address(self, name: str) -> str:
        address: str = self.cleaned_data[name]
        problem = _find_address_problem(address) if address else ""
        if problem:
            raise ValidationError(problem, code="address")
        return address

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        nameless = "help_name" in cleaned and not cleaned["help_name"]
        if nameless and cleaned.get("help_phone"):
            self.add_error("help_name", "Say whose phone number it is.")
        elif nameless and cleaned.get("help_url"):
            self.add_error("help_name", "Say whose web address it is.")
        return cleaned


def _find_address_problem(address: str) -> str:
    """Say why an address may not be a link on respondents' pages; empty if it may."""
    whole = "Enter a whole web address, such as https://example.org/help."
    if not address.lower().startswith("https://"):
        return "Enter a web address that begins with https://."
    try:
        parts = urlsplit(address)
        host, _ = fold(parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return whole
    if "?" in address or "#" in address:
        return "Addresses with ? or # can identify people. Leave out that part."
    if "@" in parts.netloc:
        return "An address with @ can identify people. Leave out everything up to the @."
    names = host.split(".")
    if "\\" in address or " " in address or len(names) < 2 or not all(names):
        return whole
    if any(host == one or host.endswith(f".{one}") for one in FORWARDING):
        return f"{host} forwards people and can record who they are. Enter the address behind it."
    return ""
