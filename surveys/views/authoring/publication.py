"""Withdraws the public page of results, or shows it again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from surveys.access import Action
from surveys.lifecycle import services
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import to_edit

_SAID = {
    True: "The public results page was switched off. Its link now says that the "
    "page was taken back.",
    False: "The public results page was switched on.",
}


@require_POST
@authoring(Action.PUBLISH)
def switch_public_results(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Switch to the state that the button names, so that pressing it twice changes nothing."""
    wave = survey.find_wave()
    if wave is None or not wave.description.has_public_results:
        raise Http404("This survey publishes nothing.")
    off = request.POST.get("switch") == "off"
    services.switch_public_results(survey=survey, off=off)
    messages.success(request, _SAID[off])
    return to_edit(survey)
