"""The form for a release's questions, its ε, and the number of people that its price assumes."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict

from aggregator.models import Release
from aggregator.publishing.words import suggest_epsilon
from surveys.form_fields import Hundredths, WholeNumber
from surveys.formatting import cap
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models.settings import MAX_PEOPLE
from surveys.releasing.words import KINDS

# The price is for this many people if the survey does not say how many it expects.
USUAL_PEOPLE = 1000
PEOPLE_HELP = (
    "For the preview only. If you choose ε by how many people came, readers learn something about "
    "that number."
)


class ReleaseForm(forms.Form):
    """`request` holds the choice once the form is valid; other code checks what may be released."""

    people = WholeNumber(
        low=1, high=MAX_PEOPLE, label="People, for the preview", help_text=PEOPLE_HELP
    )
    # The link for a lost planned table by groups fills this in.
    group = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        kind: ReleaseKind,
        manifest: Manifest,
        candidates: Sequence[ManifestQuestion],
        left: int,
    ) -> None:
        is_table = kind == ReleaseKind.TABLE
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
            help_text=f"{cap(left)} is left. A larger ε is more exact but protects less.",
        )
        self.order_fields(["questions", "epsilon", "people"])

    @property
    def request(self) -> ReleaseRequest:
        chosen = self.cleaned_data["questions"]
        return ReleaseRequest(
            kind=self.kind,
            questions=(chosen,) if isinstance(chosen, str) else tuple(chosen),
            epsilon_hundredths=self.cleaned_data["epsilon"],
            group=self.cleaned_data["group"],
        )

    @property
    def people_planned(self) -> int:
        people: int = self.cleaned_data["people"]
        return people

    def write_query(self) -> str:
        """Write the query that shows this choice with its price."""
        request = self.request
        return _write(request, people=self.people_planned)


def write_choice(release: Release, manifest: Manifest) -> str:
    """Write the query of the form that chooses the same release again."""
    people = manifest.people_planned or USUAL_PEOPLE
    return _write(ReleaseRequest.from_json(release.request), people=people)


def _write(request: ReleaseRequest, *, people: int) -> str:
    query = QueryDict(mutable=True)
    query.setlist("questions", request.questions)
    if request.group:
        query["group"] = request.group
    query["epsilon"] = cap(request.epsilon_hundredths)
    query["people"] = str(people)
    return query.urlencode()


def _menu(kind: ReleaseKind, offered: Sequence[tuple[str, ManifestQuestion]]) -> forms.Field:
    if kind == ReleaseKind.TABLE:
        return forms.MultipleChoiceField(
            label=KINDS[kind].choose,
            choices=offered,
            widget=forms.CheckboxSelectMultiple,
            error_messages={
                "required": "Choose at least one question.",
                "invalid_choice": "%(value)s cannot be in a table. Choose from those listed.",
            },
        )
    return forms.ChoiceField(
        label=KINDS[kind].choose,
        choices=offered,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a question.",
            "invalid_choice": "%(value)s cannot be published this way. Choose from those listed.",
        },
    )
