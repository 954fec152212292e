"""What to release: questions and ε, and for how many people the price is worked out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from aggregator.models import Release
from aggregator.publishing.words import KINDS, suggest_epsilon
from aggregator.releases.requests import ReleaseRequest
from surveys.form_fields import WholeNumber
from surveys.formatting import cap
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models.settings import MAX_PEOPLE

# For the price, if the survey does not say how many people it expects.
USUAL_PEOPLE = 1000
PEOPLE_HELP = (
    "For the preview only. It starts with the number you expected. Do not choose ε by the number "
    "who came: that would tell readers something about it."
)
_AMOUNT = re.compile(r"([0-9]{0,4})(?:[.,]([0-9]{1,2}))?", re.ASCII)


def read_hundredths(text: str) -> int:
    """Read 0.5 or 0,50 as 50; 0 if it is no such number."""
    found = _AMOUNT.fullmatch(text.strip())
    ones, decimals = found.groups() if found else ("", "")
    return int(ones or 0) * HUNDREDTHS + int((decimals or "").ljust(2, "0"))


class Hundredths(forms.CharField):
    """An ε with at most two decimals, after a point or a comma; cleaned to whole hundredths."""

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


class ReleaseForm(forms.Form):
    """`request` holds the choice once the form is valid; other code checks what may be released."""

    people = WholeNumber(
        low=1, high=MAX_PEOPLE, label="People, for the preview", help_text=PEOPLE_HELP
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        kind: Release.Kind,
        manifest: Manifest,
        candidates: Sequence[ManifestQuestion],
        left: int,
    ) -> None:
        is_table = kind == Release.Kind.TABLE
        names = [one.name for one in candidates]
        initial = {
            "questions": names if is_table else names[0],
            "epsilon": cap(suggest_epsilon(kind, left=left)),
            "people": manifest.people_planned or USUAL_PEOPLE,
        }
        super().__init__(data, initial=initial)
        self.kind = kind
        self.fields["questions"] = _menu(kind, [(one.name, one) for one in candidates])
        self.fields["epsilon"] = Hundredths(
            most=left,
            label="ε to spend",
            help_text=f"{cap(left)} is left. More ε means less noise.",
        )
        self.order_fields(["questions", "epsilon", "people"])

    @property
    def request(self) -> ReleaseRequest:
        chosen = self.cleaned_data["questions"]
        return ReleaseRequest(
            kind=self.kind,
            questions=(chosen,) if isinstance(chosen, str) else tuple(chosen),
            epsilon_hundredths=self.cleaned_data["epsilon"],
        )

    @property
    def people_planned(self) -> int:
        people: int = self.cleaned_data["people"]
        return people

    def write_query(self) -> str:
        """Write the address of this choice with its price."""
        request = self.request
        return _write(request, people=self.people_planned)


def write_choice(release: Release, manifest: Manifest) -> str:
    """Write the query of the form that chooses the same release again."""
    people = manifest.people_planned or USUAL_PEOPLE
    return _write(ReleaseRequest.from_json(release.request), people=people)


def _write(request: ReleaseRequest, *, people: int) -> str:
    query = QueryDict(mutable=True)
    query.setlist("questions", request.questions)
    query["epsilon"] = cap(request.epsilon_hundredths)
    query["people"] = str(people)
    return query.urlencode()


def _menu(kind: Release.Kind, offered: Sequence[tuple[str, ManifestQuestion]]) -> forms.Field:
    if kind == Release.Kind.TABLE:
        return forms.MultipleChoiceField(
            label=KINDS[kind].choose,
            choices=offered,
            widget=forms.CheckboxSelectMultiple,
            error_messages={
                "required": "Choose at least one question.",
                "invalid_choice": "%(value)s cannot be in a table. Choose among those listed.",
            },
        )
    return forms.ChoiceField(
        label=KINDS[kind].choose,
        choices=offered,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a question.",
            "invalid_choice": "%(value)s cannot be published this way. Choose among those listed.",
        },
    )
