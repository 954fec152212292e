"""The form for planning a release of a protected survey."""

from __future__ import annotations

from typing import Any

from django import forms

from surveys.comparing.indicators import shorten
from surveys.comparing.menus import QUESTION_LENGTH
from surveys.form_fields import Hundredths, WholeNumber
from surveys.formatting import cap, whole
from surveys.manifest.manifest import USUAL_RELEASE_EPSILON, Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import (
    ALERT_PEOPLE,
    MOST_PERCENT,
    PLANNABLE,
    NotReleasable,
    add_up_planned,
    check_planned,
    list_candidates,
    list_groupings,
)
from surveys.releasing.words import KINDS

CHOOSE_OUTCOME = "A key driver needs a yes/no question to predict, and two other questions."


class ReleasePlanForm(forms.Form):
    kind = forms.ChoiceField(
        label="What readers see",
        choices=[(kind.value, f"{kind.label}: {KINDS[kind].about}") for kind in PLANNABLE],
        initial=ReleaseKind.TABLE,
        widget=forms.RadioSelect,
    )
    questions = forms.MultipleChoiceField(
        label="Questions",
        required=False,
        help_text=(
            "A table can have several questions. A leader or a median is about one question, a key "
            "driver about at least three. An alert needs no question here."
        ),
        widget=forms.CheckboxSelectMultiple,
    )
    answer = forms.ChoiceField(label="Answer", required=False)
    percent = WholeNumber(
        low=1,
        high=MOST_PERCENT,
        label="More than, in %",
        required=False,
        help_text=f"Alerts need at least {whole(ALERT_PEOPLE)} expected people.",
    )

    def __init__(self, data: Any = None, *, manifest: Manifest) -> None:
        super().__init__(data, auto_id="release_%s")
        self.manifest = manifest
        left = max(0, (manifest.release_epsilon_hundredths or 0) - add_up_planned(manifest))
        self.fields["questions"].choices = [  # type: ignore[attr-defined]
            (one.name, f"Q{one.number} {one.text}") for one in manifest.questions if one.is_answered
        ]
        groupings = list_groupings(manifest)
        if groupings:
            self.fields["group"] = forms.ChoiceField(
                label="Groups of a table",
                required=False,
                choices=[
                    ("", "Everyone together"),
                    *((one.name, f"By Q{one.number} {one.text}") for one in groupings),
                ],
                help_text="Groups cost nothing more, but each group needs enough people.",
            )
        compared = list_candidates(manifest, ReleaseKind.KEY_DRIVER)
        if compared:
            self.fields["outcome"] = forms.ChoiceField(
                label="Answer to predict",
                required=False,
                choices=[("", "–"), *((one.name, f"Q{one.number} {one.text}") for one in compared)],
            )
        self.fields["epsilon"] = Hundredths(
            most=left,
            label="ε to spend",
            initial=cap(min(left, USUAL_RELEASE_EPSILON // 2)),
            help_text=f"{cap(left)} of the cap is left. "
            "A larger ε is more exact but protects less.",
        )
        self.fields["answer"].choices = [  # type: ignore[attr-defined]
            ("", "Choose an answer"),
            *(_list_answers(one) for one in list_candidates(manifest, ReleaseKind.ALERT)),
        ]

    def clean(self) -> None:
        if self.errors:
            return
        if self.cleaned_data["kind"] == ReleaseKind.ALERT and not self._has_alert():
            return
        if self.cleaned_data["kind"] == ReleaseKind.KEY_DRIVER and not self._outcome:
            self.add_error("outcome" if "outcome" in self.fields else None, CHOOSE_OUTCOME)
            return
        try:
            check_planned(self.request, self.manifest)
        except NotReleasable as problem:
            self.add_error(None, str(problem))

    def _has_alert(self) -> bool:
        missing = {"answer": "Choose an answer.", "percent": "Enter the share in percent."}
        for name, problem in missing.items():
            if not self.cleaned_data[name]:
                self.add_error(name, problem)
        return not self.errors

    @property
    def _outcome(self) -> str:
        outcome: str = self.cleaned_data.get("outcome", "")
        return outcome

    @property
    def request(self) -> ReleaseRequest:
        kind, epsilon = ReleaseKind(self.cleaned_data["kind"]), self.cleaned_data["epsilon"]
        group = self.cleaned_data.get("group", "")
        if kind == ReleaseKind.ALERT:
            question, _, code = self.cleaned_data["answer"].partition(".")
            return ReleaseRequest(
                kind=kind,
                questions=(question,),
                epsilon_hundredths=epsilon,
                answer=int(code),
                percent=self.cleaned_data["percent"],
                group=group,
            )
        chosen = self.cleaned_data["questions"]
        if kind == ReleaseKind.KEY_DRIVER:
            chosen = [self._outcome, *chosen]
        known = [one.name for one in self.manifest.questions]
        return ReleaseRequest(
            kind=kind,
            questions=kind.sort_questions(chosen, known=known),
            epsilon_hundredths=epsilon,
            group=group,
        )


def _list_answers(question: ManifestQuestion) -> tuple[str, list[tuple[str, str]]]:
    """List a question's answers under its number, each with the question's name and its code."""
    return f"Q{question.number} {shorten(question.text, QUESTION_LENGTH)}", [
        (f"{question.name}.{option.code}", f"Q{question.number} · {option.text}")
        for option in question.options
    ]
