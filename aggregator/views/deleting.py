"""Delete a closed survey with its data, after its owner has typed its title."""

from __future__ import annotations

import unicodedata

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aggregator.upkeep.deleting import delete_survey
from surveys.access import Action
from surveys.lifecycle.errors import NotClosed
from surveys.models import Survey
from surveys.views.authoring.access import authoring


class DeleteForm(forms.Form):
    title = forms.CharField(
        required=False,
        label="Type the survey’s title to delete it",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: object, survey: Survey, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._title = survey.title

    def clean_title(self) -> str:
        typed: str = self.cleaned_data["title"]
        if _as_read(typed) != _as_read(self._title):
            raise forms.ValidationError(
                f"Type the title exactly as it is shown: “{self._title}”. Nothing was deleted."
            )
        return typed


def _as_read(text: str) -> str:
    """Make strings equal that look the same on a page, which shows several spaces as one."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@require_http_methods(["GET", "HEAD", "POST"])
@authoring(Action.DELETE)
def delete(request: HttpRequest, survey: Survey) -> HttpResponse:
    wave = survey.find_wave()
    if wave is None:
        return redirect("surveys:delete", slug=survey.slug)
    if wave.is_open:
        raise NotClosed
    form = DeleteForm(request.POST if request.method == "POST" else None, survey=survey)
    if form.is_valid():
        delete_survey(survey=survey)
        # The message is stored in the session, so it omits the title.
        messages.success(request, "The survey was deleted with everything it collected.")
        return redirect("aggregator:home")
    context = {"survey": survey, "wave": wave, "form": form}
    status = 422 if form.errors else 200
    return render(request, "aggregator/site/delete_survey.html", context, status=status)
