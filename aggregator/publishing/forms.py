"""What to release: questions and ε, and for how many people the price is worked out."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict

from aggregator.models import Release
from aggregator.publishing.words import KINDS
from aggregator.releases.requests import HUNDREDTHS, ReleaseRequest
from surveys.authoring.forms.fields import WholeNumber, decimal_range
from surveys.authoring.forms.settings import MAX_PEOPLE
from surveys.formatting import cap
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

# For the price, if the survey does not say how many people it expects.
USUAL_PEOPLE = 1000
PEOPLE_HELP = (
    "For the preview only. It starts with the number you expected, not the number who came: an ε "
    "chosen by the exact number would tell readers something about it."
)


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
        cost = min(KINDS[kind].usual_hundredths, left)
        chosen = candidates if kind == Release.Kind.TABLE else candidates[:1]
        people = manifest.people_planned or USUAL_PEOPLE
        usual = {
            "questions": [one.name for one in chosen],
            "epsilon": cap(cost),
            "people": str(people),
        }
        super().__init__(data or _as_query(usual))
        self.kind = kind
        offered = [(one.name, one) for one in candidates]
        self.fields["questions"] = _menu(kind, offered)
        self.fields["epsilon"] = forms.DecimalField(
            label="ε to spend",
            help_text=f"{cap(left)} is left. More ε means less noise.",
            **decimal_range("0.01", cap(left), what="ε"),
        )
        self.order_fields(["questions", "epsilon", "people"])

    @property
    def request(self) -> ReleaseRequest:
        chosen = self.cleaned_data["questions"]
        epsilon: Decimal = self.cleaned_data["epsilon"]
        return ReleaseRequest(
            kind=self.kind,
            questions=(chosen,) if isinstance(chosen, str) else tuple(chosen),
            epsilon_hundredths=int(epsilon * HUNDREDTHS),
        )

    @property
    def people_planned(self) -> int:
        people: int = self.cleaned_data["people"]
        return people


def write_choice(release: Release, manifest: Manifest) -> str:
    """Write the query of the form that chooses the same release again."""
    request = ReleaseRequest.from_json(release.request)
    return _as_query(
        {
            "questions": list(request.questions),
            "epsilon": cap(request.epsilon_hundredths),
            "people": str(manifest.people_planned or USUAL_PEOPLE),
        }
    ).urlencode()


def _as_query(values: dict[str, Any]) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in values.items():
        query.setlist(name, value if isinstance(value, list) else [value])
    return query


def _menu(kind: Release.Kind, offered: Sequence[tuple[str, ManifestQuestion]]) -> forms.Field:
    if kind == Release.Kind.TABLE:
        return forms.MultipleChoiceField(
            label=KINDS[kind].choose,
            choices=offered,
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one question."},
        )
    return forms.ChoiceField(
        label=KINDS[kind].choose,
        choices=offered,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a question."},
    )
