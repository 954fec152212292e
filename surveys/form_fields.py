"""Fields that all forms share: plain text, lists of texts, moments and numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from surveys.formatting import cap
from surveys.manifest.manifest import HUNDREDTHS
from surveys.manifest.plain_text import fold

BROWSER_MOMENT = "%Y-%m-%dT%H:%M"
BROWSER_DAY = "%Y-%m-%d"
MOST_LINE_ERRORS = 5

# Embeddings, overrides and isolates can change the order in which text is shown. The marks that
# Arabic and Hebrew need (U+200E, U+200F) and joiners are allowed.
_REORDERING = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") and character != "\n"


def _shows_something(text: str) -> bool:
    return any(unicodedata.category(character)[0] not in "CZ" for character in text)


class PlainText(forms.CharField):
    """Text that people write and pages always show as plain text.

    The control has no maxlength, because browsers would cut pasted text silently. `find_problem`
    says what is wrong with text that is not empty.
    """

    def __init__(
        self,
        *,
        name: str,
        missing: str,
        max_length: int,
        find_problem: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.lines = kwargs.pop("lines", False)
        self.find_problem = find_problem
        super().__init__(
            max_length=max_length,
            error_messages={
                "required": missing,
                "max_length": f"The {name} has %(show_value)d characters. "
                "Shorten it to %(limit_value)d or fewer.",
            },
            **kwargs,
        )
        self._reordering_error = (
            f"The {name} contains an invisible character that changes the order of the text. "
            "Delete the text and type it again."
        )
        self._control_error = (
            f"The {name} contains an invisible control character. "
            "Delete the text and type it again, or paste it as plain text."
        )
        # Django's own check for NUL would report the same problem again.
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

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        problem = self.find_problem(text) if text and self.find_problem else ""
        if problem:
            raise ValidationError(problem)
        return text

    def validate(self, value: str) -> None:
        if any(map(_is_control, value)):
            raise ValidationError(self._control_error, code="control_character")
        if not _REORDERING.isdisjoint(value):
            raise ValidationError(self._reordering_error, code="reordering_character")
        super().validate(value)


class Lines(PlainText):
    """Several different texts, one per line. The cleaned list contains no empty lines.

    `find_line_problem` says what is wrong with a line, or returns an empty string.
    """

    def __init__(
        self,
        *,
        least: int,
        most: int,
        longest: int,
        noun: str = "option",
        find_line_problem: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.least, self.most, self.longest, self.noun = least, most, longest, noun
        self.find_line_problem = find_line_problem
        super().__init__(
            name="list",
            missing=f"Enter at least {least} {noun}s, one per line.",
            max_length=(most + 100) * (longest + 1),
            lines=True,
            strip=False,
            **kwargs,
        )

    def clean(self, value: Any) -> list[str]:
        typed = [line.strip() for line in super().clean(value).split("\n")]
        # Pasted lists often have empty lines. Messages use the line numbers as typed.
        lines = {number: line for number, line in enumerate(typed, 1) if _shows_something(line)}
        problems = list(self._find_problems(lines)) if lines or self.required else []
        if problems:
            raise ValidationError(problems[:MOST_LINE_ERRORS])
        return list(lines.values())

    def _find_problems(self, lines: dict[int, str]) -> list[str]:
        problems = []
        first_with: dict[str, int] = {}
        for number, line in lines.items():
            if len(line) > self.longest:
                problems.append(
                    f"Line {number} has {len(line)} characters. "
                    f"Shorten it to {self.longest} or fewer."
                )
            elif self.find_line_problem and (problem := self.find_line_problem(line)):
                problems.append(f"Line {number} {problem}")
            first = first_with.setdefault(fold(line), number)
            if first != number:
                problems.append(f"Line {number} is the same as line {first}. Change one of them.")
        if not problems and len(lines) < self.least:
            problems.append(
                f"There is only one {self.noun}. Enter at least {self.least}, one per line."
            )
        if len(lines) > self.most:
            problems.insert(
                0,
                f"There are {len(lines)} {self.noun}s. Delete some: the maximum is {self.most}.",
            )
        return problems


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


class BrowserDay(forms.DateField):
    """A day from a date control."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            widget=forms.DateInput(attrs={"type": "date"}, format=BROWSER_DAY),
            error_messages={"invalid": "Enter a day, such as 2027-03-31, or leave it empty."},
            **kwargs,
        )


class WholeNumber(forms.IntegerField):
    """A whole number in a range, with one message for every error."""

    def __init__(self, *, low: int, high: int, why: str = "", **kwargs: Any) -> None:
        super().__init__(
            min_value=low,
            max_value=high,
            error_messages=number_messages(low, high, why),
            **kwargs,
        )


def number_messages(low: int, high: int, why: str = "", what: str = "") -> dict[str, str]:
    ends = f"from {write_number(low)} to {write_number(high)}"
    text = f"Enter {what and f'{what} as '}a whole number {ends}.{why}"
    return {"required": text, "invalid": text, "min_value": text, "max_value": text}


def write_number(number: int) -> str:
    return f"{number:,}".replace("-", "\N{MINUS SIGN}")


class DecimalInRange(forms.DecimalField):
    """A decimal in a range, with one message for every error."""

    def __init__(self, low: str, high: str, *, what: str, **kwargs: Any) -> None:
        kinds = ("required", "invalid", "min_value", "max_value")
        digits = ("max_digits", "max_decimal_places", "max_whole_digits")
        text = f"Enter {what} as a number from {low} to {high}."
        super().__init__(
            min_value=Decimal(low),
            max_value=Decimal(high),
            max_digits=6,
            decimal_places=2,
            widget=forms.NumberInput(attrs={"step": "any"}),
            error_messages=dict.fromkeys((*kinds, *digits), text),
            **kwargs,
        )

    def run_validators(self, value: Any) -> None:
        try:
            super().run_validators(value)
        except ValidationError as error:
            raise error.error_list[0] from None


_AMOUNT = re.compile(r"([0-9]{0,4})(?:[.,]([0-9]{1,2}))?", re.ASCII)


def read_hundredths(text: str) -> int:
    """Read 0.5 or 0,50 as 50, and invalid text as 0."""
    found = _AMOUNT.fullmatch(text.strip())
    ones, decimals = found.groups() if found else ("", "")
    return int(ones or 0) * HUNDREDTHS + int((decimals or "").ljust(2, "0"))


class Hundredths(forms.CharField):
    """An ε with at most two decimals after a point or a comma, cleaned to whole hundredths."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        self.most = most
        self.problem = f"Enter ε from 0.01 to {cap(most)}, with at most two decimals."
        super().__init__(
            widget=forms.TextInput(attrs={"inputmode": "decimal"}),
            error_messages={"required": self.problem},
            **kwargs,
        )

    def clean(self, value: Any) -> int:
        amount = read_hundredths(super().clean(value))
        if not 1 <= amount <= self.most:
            raise ValidationError(self.problem, code="invalid")
        return amount
