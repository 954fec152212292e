"""Forms about people: whom to invite, which role, and who takes over."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts.forms import NameForm
from accounts.models import User
from surveys.models import Role, Survey, Team
from surveys.models.people import NAME_LENGTH

REMOVE = "remove"


class InviteForm(forms.Form):
    address = forms.EmailField(
        label="Email address",
        error_messages={
            "required": "Enter the address of the person to invite.",
            "invalid": "Enter an address such as name@example.org.",
        },
    )
    role = forms.TypedChoiceField(
        label="Role", choices=Role.choices, coerce=lambda value: Role(int(value))
    )

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        return address.lower()


class RoleForm(forms.Form):
    """A new role, or the removal of a role. Anything else that a program may send is invalid."""

    role = forms.ChoiceField(choices=[*Role.choices, (REMOVE, "Remove")])

    @property
    def chosen(self) -> Role | None:
        role = self.cleaned_data["role"]
        return None if role == REMOVE else Role(int(role))


class TeamForm(forms.Form):
    name = forms.CharField(
        label="Name of the team",
        max_length=NAME_LENGTH,
        error_messages={"required": "Enter a name for the team."},
    )

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])


def clean_name(name: str) -> str:
    """Refuse misleading names by the same rules that apply to people's names."""
    checked = NameForm({"name": name})
    if not checked.is_valid():
        raise ValidationError(checked.errors["name"].as_data())
    cleaned: str = checked.cleaned_data["name"]
    return cleaned


class AttachForm(forms.Form):
    team = forms.ModelChoiceField(queryset=Team.objects.none(), label="Team", empty_label=None)

    def __init__(self, *args: Any, survey: Survey, account: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Team.objects.filter(members__account=account)
        self.fields["team"].queryset = mine.exclude(attachments__survey=survey)  # type: ignore[attr-defined]


class SuccessorForm(forms.Form):
    """The choice of a successor from the people who work with the account."""

    account = forms.ModelChoiceField(
        queryset=User.objects.none(),
        label="New owner",
        empty_label=None,
        error_messages={
            "required": "Choose the new owner.",
            "invalid_choice": "Choose one of your colleagues.",
        },
    )

    def __init__(self, *args: Any, people: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["account"].queryset = people  # type: ignore[attr-defined]


class JoinForm(NameForm):
    """The account of an invited person."""

    password = forms.CharField(
        label="Password",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        strip=False,
        error_messages={"required": "Enter a password."},
    )

    def __init__(self, *args: Any, address: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = address

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self._address))
        return password
