"""allauth's forms for codes, with our texts and with `codes.check_code`."""

from __future__ import annotations

from typing import Any

from allauth.mfa.base import forms
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.core.exceptions import ValidationError
from django.forms import Form

from accounts.forms import PlainWords
from accounts.models import User
from accounts.second_factor.adapter import UNREADABLE, WRONG_CODE
from accounts.second_factor.codes import check_code, find_step

_CODE = {"code": ("Code", "Enter the code.")}


def describe_wait(seconds: int, *, in_session: bool) -> str:
    wait = f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"
    others = (
        "someone else is using one of your sessions. Sign in again, and end all others."
        if in_session
        else "someone knows your password. Change it."
    )
    return (
        f"There were too many wrong codes. Wait {wait} and try again. If you did not enter them, "
        f"{others}"
    )


class _Checking(PlainWords):
    """Replaces allauth's own check, which forgets used codes when the cache is emptied."""

    words = _CODE
    in_session = False

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]  # type: ignore[attr-defined]
        user: User = self.user  # type: ignore[attr-defined]
        checked = check_code(user=user, code=code, in_session=self.in_session)
        if checked.is_unreadable:
            raise ValidationError(UNREADABLE, code="unreadable")
        if checked.wait:
            said = describe_wait(checked.wait, in_session=self.in_session)
            raise ValidationError(said, code="wait")
        if checked.authenticator is None:
            raise ValidationError(WRONG_CODE, code="incorrect_code")
        self.authenticator = checked.authenticator
        self.authenticator.user = user
        return code


class SignInCodeForm(_Checking, forms.AuthenticateForm):  # type: ignore[misc]  # allauth ships no types
    pass


class ConfirmCodeForm(_Checking, forms.ReauthenticateForm):  # type: ignore[misc]
    in_session = True


class SetUpForm(PlainWords, ActivateTOTPForm):  # type: ignore[misc]
    """Asks for a first code. The view supplies the secret, because allauth would not encrypt it."""

    words = {"code": ("Code from the app", "Enter the code that the app shows.")}

    def __init__(self, *args: Any, secret: str, **kwargs: Any) -> None:
        self.user = kwargs.pop("user")
        self.secret = secret
        Form.__init__(self, *args, **kwargs)
        self._plain()

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        step = find_step(self.secret, code)
        if step is None:
            raise ValidationError(
                "This code is wrong. Check the time on your phone, and enter the newest code.",
                code="incorrect_code",
            )
        self.step = step
        return code


def make_secret() -> str:
    return str(generate_totp_secret())
