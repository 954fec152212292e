"""A survey's results for anyone: no account, session, cookie or script.

It shows the same blocks as the owner's page, for everyone together: no codes, no groups, and no
question whose rule depends on an answer that was not scrambled; nothing of an open survey, and
nothing before the last reports are counted. Until then, and if there is nothing to show, the page
does not depend on how many reports have come.
"""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from aggregator.results.display import Results, Standing, View, find_view
from aggregator.results.rendered_blocks import render_blocks
from aggregator.results.sentences import (
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
)
from aggregator.simulation.truth import describe_truth, known_truth
from surveys.formatting import join_list
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.models import Survey
from surveys.respondent.views.compressed import HTML, answer
from surveys.respondent.views.deleted import GONE, unless_deleted

_NOTHING_EVER = (Standing.EMPTY, Standing.DISCARDED, Standing.TOO_FEW)


@require_safe
@unless_deleted
def public_results(request: HttpRequest, slug: str, mode: Mode = Mode.ELECTRONIC) -> HttpResponse:
    """Show the results; 404 unless this survey publishes them, 410 if its owner took them back."""
    survey = Survey.objects.filter(slug=slug).first()
    view = find_view(survey, mode=mode) if survey is not None else None
    if survey is None or view is None or not _may_show(view):
        raise Http404
    manifest = view.manifest
    assert manifest is not None
    context: dict[str, Any] = {
        "survey": survey,
        "wave": view.wave,
        "manifest": manifest,
        "is_of_coins": mode == Mode.MANUAL,
        "has_coins": bool(manifest.coin_questions),
        "lang": language_tag(manifest.language),
    }
    if survey.public_results_off:
        return _render(request, "public_off.html", context, status=GONE)
    if view.results is None or not view.results.is_final:
        return _render(request, "public_nothing.html", context | {"why": _explain(view)})
    context |= _describe(survey, view.results)
    return _render(request, "public_results.html", context)


def _may_show(view: View) -> bool:
    return view.manifest is not None and view.manifest.publishes_exact


def _explain(view: View) -> str:
    """Say why there are no results: the survey is open, reports are counted, or too few came."""
    assert view.wave is not None
    if view.wave.is_open:
        return "open"
    is_final = view.snapshot is None or view.snapshot.final
    return "too-few" if view.standing in _NOTHING_EVER and is_final else "counting"


def _describe(survey: Survey, results: Results) -> dict[str, Any]:
    truth = known_truth(survey)
    return {
        "results": results,
        "blocks": render_blocks(results, truth=truth, is_public=True),
        "left_out": _name_left_out(results.manifest),
        "validity": describe_intervals(results),
        "caution": describe_caution(
            one
            for result in results.questions
            if results.manifest.is_for_everyone(result.question)
            for one in result.shown
        ),
        "alarm": describe_alarm(results),
        "burst": "" if truth else describe_burst(results),
        "known_truth": describe_truth(survey),
    }


def _name_left_out(manifest: Manifest) -> str:
    """Say which questions are not published, and why; empty if all are."""
    left_out = [
        one for one in manifest.questions if one.is_answered and not manifest.is_for_everyone(one)
    ]
    declared = [f"Q{one.number}" for one in left_out if one.is_declared]
    routed = [f"Q{one.number}" for one in left_out if not one.is_declared]
    sentences = []
    if declared:
        whose = "its" if len(declared) == 1 else "their"
        sentences.append(f"{_negate(declared)}, because {whose} answers were not scrambled.")
    if routed:
        sentences.append(
            f"{_negate(routed)}, because who was asked depends on an answer that was not scrambled."
        )
    return " ".join(sentences)


def _negate(names: list[str]) -> str:
    return f"{join_list(names)} {'is' if len(names) == 1 else 'are'} not published"


def _render(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    # Without the request, whose context processors would read the session.
    content = render_to_string(f"aggregator/results/{template}", context).encode()
    return answer(request, content, content_type=HTML, status=status)
