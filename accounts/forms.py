"""allauth's forms with our texts: labels instead of placeholders, errors that say what to do."""

from __future__ import annotations

from typing import Any

from allauth.account import forms
from allauth.core import ratelimit
from django.forms import Form
from django.http import HttpRequest

from accounts.reset_mail import request_reset_mail


class PlainWords:
    """Removes placeholders and sets our own labels and messages."""

    words: dict[str, tuple[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert isinstance(self, Form)
        for name, (label, missing) in self.words.items():
            field = self.fields[name]
            field.label = label
            field.error_messages["required"] = missing
            field.widget.attrs.pop("placeholder", None)
            if field.widget.attrs.get("autocomplete") == "current-password":
                field.help_text = ""  # the pages link to the password reset themselves


_EMAIL = ("E-mail address", "Enter your e-mail address.")
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
            request_reset_mail(account=self.users[0].pk if self.users else None)
        return email


class NewPasswordForm(PlainWords, forms.ResetPasswordKeyForm):  # type: ignore[misc]
    words = {"password1": _NEW, "password2": _AGAIN}
