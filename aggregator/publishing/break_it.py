"""A demo or a rehearsal under attack; a survey that real people answer has no such page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.results.display import find_view
from aggregator.simulation.attacks import play_attacks
from aggregator.simulation.demo import is_invented
from aggregator.simulation.demo_surveys import DEMOS, OPEN
from aggregator.simulation.rehearsal import TITLE
from surveys.access import for_owner
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import Publication
from surveys.models import Survey

EPSILONS = {"0.1": 10, "0.5": 50, "1": 100, "2": 200}  # as written, and in hundredths
DEFAULT_EPSILON = "1"
FORBIDDEN = 403


@for_owner
@require_safe
def break_it(request: HttpRequest, survey: Survey) -> HttpResponse:
    # Only surveys with protected figures have a tab for releases.
    tab = "releases" if survey.publication == Publication.PROTECTED else "data"
    if not is_invented(survey):
        context = {"survey": survey, "tab": tab, "examples": _list_examples(survey)}
        return render(
            request, "aggregator/publishing/break_it_refused.html", context, status=FORBIDDEN
        )
    view = find_view(survey)
    chosen = request.GET.get("epsilon", "")
    if chosen not in EPSILONS:
        chosen = DEFAULT_EPSILON
    results = view.results if view.results and view.results.is_final else None
    context = {
        "survey": survey,
        "tab": tab,
        "view": view,
        "wave": view.wave,
        "lang": language_tag(view.manifest.language) if view.manifest else "",
        "epsilons": EPSILONS,
        "chosen": chosen,
        "is_final": results is not None,
        "attacks": play_attacks(results, epsilon_hundredths=EPSILONS[chosen]) if results else None,
    }
    return render(request, "aggregator/publishing/break_it.html", context)


def _list_examples(survey: Survey) -> list[Survey]:
    """List the owner's surveys that can be attacked instead: rehearsals of this one come first."""
    own = Survey.objects.owned_by(survey.owner)
    rehearsed = TITLE.format(title=survey.title)[:200]
    rehearsals = own.filter(rehearsal=True, title=rehearsed).order_by("-pk")
    demos = own.filter(demo=True, title__in=[demo.title for demo in DEMOS if demo is not OPEN])
    return [*rehearsals[:1], *demos.order_by("pk")]
