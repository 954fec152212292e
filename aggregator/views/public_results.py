"""A survey's results for anyone: no account, session, cookie or script.

It shows the same blocks as the owner's page, for everyone together: no groups, nothing of an open
survey, and nothing before the last reports are counted. Until then, and if there is nothing to
show, the page does not depend on how many reports have come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import override
from django.views.decorators.http import require_safe

from aggregator.results.blocks import Block, list_blocks
from aggregator.results.display import Results, Standing, View, find_view
from aggregator.results.sentences import (
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
)
from aggregator.simulation.truth import describe_truth, known_truth
from surveys.formatting import join_list
from surveys.manifest.languages import direction, language_tag
from surveys.manifest.modes import Mode
from surveys.models import Survey
from surveys.respondent.label.label import PrivacyLabel, describe_protection
from surveys.respondent.views.compressed import HTML, answer
from surveys.respondent.views.deleted import GONE, unless_deleted

_NOTHING_EVER = (Standing.EMPTY, Standing.DISCARDED, Standing.TOO_FEW)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What anyone may read of one wave."""

    results: Results
    blocks: tuple[Block, ...]
    left_out: str  # the questions that are not scrambled
    validity: str
    caution: str
    alarm: str
    burst: str
    label: PrivacyLabel

    @property
    def is_of_coins(self) -> bool:
        return self.results.manifest.mode == Mode.MANUAL


@require_safe
@unless_deleted
def public_results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the results; 404 unless this survey publishes them, 410 if its owner took them back."""
    survey = Survey.objects.filter(slug=slug).first()
    wave = survey.wave if survey is not None else None
    if survey is None or wave is None or not wave.description.has_public_results:
        raise Http404
    context: dict[str, Any] = {"survey": survey, "wave": wave, "manifest": wave.description}
    if survey.public_results_off:
        return _render(request, "public_off.html", context, status=GONE)
    view = find_view(survey)
    if view.results is None or not view.results.is_final:
        return _render(request, "public_nothing.html", context | {"why": _explain(view)})
    parts = [_describe(survey, view.results)]
    coins = find_view(survey, mode=Mode.MANUAL)
    if coins.results is not None and coins.results.is_final:
        parts.append(_describe(survey, coins.results))
    context |= {
        "parts": parts,
        "known_truth": describe_truth(survey),
        "lang": language_tag(view.results.manifest.language),
        "dir": direction(view.results.manifest.language),
    }
    return _render(request, "public_results.html", context)


def _explain(view: View) -> str:
    """Say why there are no results: open, counting, or too few ever."""
    assert view.wave is not None
    if view.wave.is_open:
        return "open"
    is_final = view.snapshot is None or view.snapshot.final
    return "too-few" if view.standing in _NOTHING_EVER and is_final else "counting"


def _describe(survey: Survey, results: Results) -> Part:
    truth = known_truth(survey)
    blocks = [block for block in list_blocks(results, truth=truth) if not block.is_declared]
    shown = [row.estimate for block in blocks for row in block.figures if row.estimate is not None]
    with override("en"):
        label = describe_protection(results.manifest)
    return Part(
        results=results,
        blocks=tuple(blocks),
        left_out=_name_left_out(results),
        validity=" ".join(describe_intervals(results)[:1]),
        caution=describe_caution(shown),
        alarm=describe_alarm(results),
        burst="" if truth else describe_burst(results),
        label=label,
    )


def _name_left_out(results: Results) -> str:
    declared = [one for one in results.manifest.questions if one.is_declared]
    if not declared:
        return ""
    names = join_list([f"Q{question.number}" for question in declared])
    verb, whose = ("is", "Its") if len(declared) == 1 else ("are", "Their")
    return f"{names} {verb} left out. {whose} answers were not scrambled."


def _render(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    # Without the request, whose context processors would read the session.
    content = render_to_string(f"aggregator/results/{template}", context).encode()
    return answer(request, content, content_type=HTML, status=status)
