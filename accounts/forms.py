"""allauth's forms with our texts: labels instead of placeholders, errors that say what to do."""

from __future__ import annotations

import unicodedata
from typing import Any

from allauth.account import forms
from allauth.core import ratelimit
from django.core.exceptions import ValidationError
from django.forms import (
    CharField,
    CheckboxSelectMultiple,
    EmailField,
    Form,
    TypedChoiceField,
    TypedMultipleChoiceField,
)
from django.http import HttpRequest

from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import User
from accounts.tokens import LONGEST_DAYS, Scope


class PlainWords:
    """Removes placeholders and sets our own labels and messages."""

    words: dict[str, tuple[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._plain()

    def _plain(self) -> None:
        assert isinstance(self, Form)
        for name, (label, missing) in self.words.items():
            field = self.fields[name]
            field.label = label
            field.error_messages["required"] = missing
            field.widget.attrs.pop("placeholder", None)
            if field.widget.attrs.get("autocomplete") == "current-password":
                field.help_text = ""  # the pages themselves link to the password reset


_EMAIL = ("Email address", "Enter your email address.")
_PASSWORD = ("Password", "Enter your password.")
_NEW = ("New password", "Enter a new password.")
_AGAIN = ("Repeat the new password", "Enter the new password again.")


class SignInForm(PlainWords, forms.LoginForm):  # type: ignore[misc]  # allauth ships no types
    words = {"login": _EMAIL, "password": _PASSWORD}


class ConfirmPasswordForm(PlainWords, forms.ReauthenticateForm):  # type: ignore[misc]
    words = {"password": _PASSWORD}


class ChangePasswordForm(PlainWords, forms.ChangePasswordForm):  # type: ignore[misc]
    words = {
        "oldpassword": ("Current password", "Enter your current password."),
        "password1": _NEW,
        "password2": _AGAIN,
    }


class RequestResetForm(PlainWords, forms.ResetPasswordForm):  # type: ignore[misc]
    words = {"email": _EMAIL}

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        email = str(self.cleaned_data["email"])
        if ratelimit.consume(request, action="reset_mail", key=email.lower()):
            request_mail(Kind.RESET, account=self.users[0].pk if self.users else None)
        return email


class NewPasswordForm(PlainWords, forms.ResetPasswordKeyForm):  # type: ignore[misc]
    words = {"password1": _NEW, "password2": _AGAIN}


# These characters change the direction of text. In a name, they could make a list of people
# misleading.
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class NameForm(Form):
    name = CharField(label="Your name", max_length=100, required=False)

    def clean_name(self) -> str:
        """Return the name without superfluous spaces."""
        name: str = " ".join(self.cleaned_data["name"].split())
        if any(unicodedata.category(sign) == "Cc" or sign in _TURNS for sign in name):
            raise ValidationError(
                "The name contains invisible control characters. Type it instead of pasting it."
            )
        return name


class TokenForm(NameForm):
    name = CharField(
        label="Name",
        help_text="A name that you will recognize, such as the name of the program.",
        max_length=60,
        error_messages={"required": "Enter a name, so that you can recognize this token later."},
    )
    scopes = TypedMultipleChoiceField(
        label="What it may do",
        choices=(
            (Scope.RESULTS, "Read surveys and results"),
            (Scope.FILES, "Read files of rows and estimates"),
            (Scope.DRAFTS, "Read, write and create drafts"),
        ),
        coerce=Scope,
        widget=CheckboxSelectMultiple,
        help_text="The program can never do more than you are allowed to do at that moment.",
        error_messages={"required": "Tick what the program may do."},
    )
    days = TypedChoiceField(
        label="It expires after",
        choices=((30, "30 days"), (90, "90 days"), (LONGEST_DAYS, "a year")),
        coerce=int,
        initial=90,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose one from the list."),
    )


class NewAddressForm(Form):
    email = EmailField(
        label="New email address",
        error_messages={
            "required": "Enter the new address.",
            "invalid": "Enter an address such as name@example.org.",
        },
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        if email == self.user.email.lower():
            raise ValidationError("This is already your address. Enter a different one.")
        return email
