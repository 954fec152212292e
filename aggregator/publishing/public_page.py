"""A survey's published results for anyone: no account, session, cookie or script.

Exact results are the blocks of the owner's page, for everyone together: no codes, no groups, and no
question whose rule depends on an answer that was not scrambled; nothing of an open survey, and
nothing before the last reports are counted. Until then, and if there is nothing to show, the page
does not depend on how many reports have come. A protected survey shows its releases and nothing
else.
"""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import override
from django.views.decorators.http import require_safe

from aggregator.exports.csv_format import CONTENT_TYPE as CSV
from aggregator.exports.csv_format import name_wave
from aggregator.models import Release, today
from aggregator.publishing.public_releases import (
    Charged,
    describe_all_readers,
    describe_public,
    find_charged,
    find_public,
    write_csv,
)
from aggregator.releases.sentences import describe_exact_readers, promise_together
from aggregator.results.display import Results, View, find_view
from aggregator.results.rendered_blocks import list_epsilons, render_blocks
from aggregator.results.sentences import (
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
)
from aggregator.simulation.truth import describe_truth, known_truth
from surveys.downloads import attach
from surveys.formatting import join_list
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.models import Survey, Wave
from surveys.respondent.label.label import describe_protection
from surveys.respondent.views.compressed import HTML, answer, serve
from surveys.respondent.views.deleted import GONE, unless_deleted
from surveys.stored_texts import Text, make_key, read_text

OK = 200


@require_safe
@unless_deleted
def public_results(request: HttpRequest, slug: str, mode: Mode = Mode.ELECTRONIC) -> HttpResponse:
    """Show what is published; 404 unless something may be, 410 if its owner took it back."""
    wave = _find_wave(slug, mode)
    context = _describe_survey(wave)
    if wave.survey.public_results_off:
        return _render(request, "results/public_off.html", context, status=GONE)
    if wave.description.publishes_releases:
        return _show_releases(request, wave, context)
    return _show_exact(request, wave, context)


@require_safe
@unless_deleted
def public_results_csv(
    request: HttpRequest, slug: str, mode: Mode = Mode.ELECTRONIC
) -> HttpResponse:
    """Send the releases of a protected survey as a file; 404 for other surveys."""
    wave = _find_wave(slug, mode)
    if not wave.description.publishes_releases:
        raise Http404
    if wave.survey.public_results_off:
        return _render(request, "results/public_off.html", _describe_survey(wave), status=GONE)
    releases = find_public(wave, day=today())
    file = Text(
        name=f"{wave.manifest_hash_hex} releases.csv",
        key=make_key(wave.survey.origin, [one.key for one in releases]),
        make=lambda: write_csv(wave, releases),
        wave=wave.pk,
    )
    response = serve(request, file, content_type=CSV)
    if response.status_code == OK:
        attach(response, f"{name_wave(wave, slug=slug)}_releases.csv")
    return response


def store_public_page(wave: Wave) -> None:
    """Make the page of final results, so that no visit has to.

    Workers call it when they have counted the last reports. If one stops here, or after an upgrade,
    the first visit makes the page, one at a time.
    """
    try:
        wave = _find_wave(wave.survey.slug, Mode(wave.mode))
        if not wave.is_open and not wave.description.publishes_releases:
            read_text(_describe_exact(wave, _describe_survey(wave)))
    except (Http404, _NothingToShow):
        return


def _find_wave(slug: str, mode: Mode) -> Wave:
    survey = Survey.objects.filter(slug=slug).first()
    wave = survey.waves.shown().filter(mode=mode).newest() if survey is not None else None
    if survey is None or wave is None or not wave.description.has_public_results:
        raise Http404
    wave.survey = survey
    return wave


def _describe_survey(wave: Wave) -> dict[str, Any]:
    manifest = wave.description
    return {
        "survey": wave.survey,
        "wave": wave,
        "manifest": manifest,
        "is_of_coins": wave.mode == Mode.MANUAL,
        "has_coins": bool(manifest.coin_questions),
        "lang": language_tag(manifest.language),
    }


# --- releases -------------------------------------------------------------------------------------


def _show_releases(request: HttpRequest, wave: Wave, context: dict[str, Any]) -> HttpResponse:
    day = today()
    releases = find_public(wave, day=day)
    charged = find_charged(wave, day=day)
    page = Text(
        name=f"{wave.manifest_hash_hex} releases",
        # Nothing else decides a byte.
        key=make_key(
            wave.survey.origin,
            charged.is_suspended,
            [one.key for one in charged.releases],
            [one.key for one in releases],
        ),
        make=lambda: _render_releases(wave, releases, charged, context).encode(),
        wave=wave.pk,
    )
    return serve(request, page, content_type=HTML)


def _render_releases(
    wave: Wave, releases: list[Release], charged: Charged, context: dict[str, Any]
) -> SafeString:
    manifest = wave.description
    with override("en"):
        label = describe_protection(manifest)
    context |= {
        "releases": describe_public(manifest, releases, spent=charged.spent),
        "readers": describe_all_readers(manifest, charged) if releases else [],
        "together": promise_together(
            manifest, spent_hundredths=charged.spent, delta_nanos=charged.delta
        ),
        "is_suspended": charged.is_suspended and bool(releases),
        "epsilons": list_epsilons(manifest),
        "label": label,
    }
    return render_to_string("aggregator/publishing/public_releases.html", context)


# --- exact results --------------------------------------------------------------------------------


class _NothingToShow(Exception):
    """The argument says why: the survey is open, reports are counted, or too few came."""


def _show_exact(request: HttpRequest, wave: Wave, context: dict[str, Any]) -> HttpResponse:
    try:
        if wave.is_open:
            raise _NothingToShow("open")
        return serve(request, _describe_exact(wave, context), content_type=HTML)
    except _NothingToShow as nothing:
        context |= {"why": nothing.args[0]}
        return _render(request, "results/public_nothing.html", context)


def _describe_exact(wave: Wave, context: dict[str, Any]) -> Text:
    """Describe the page of final results. It is stored once there are some."""
    decides = ("pk", "method_version", "earlier_final", "final", "looks", "counts", "told")
    newest = wave.snapshots.order_by("-through_batch").values_list(*decides).first()
    return Text(
        name=f"{wave.manifest_hash_hex} results",
        key=make_key(wave.survey.origin, wave.ending, wave.closed_at, newest),
        make=lambda: _render_exact(wave, context),
        wave=wave.pk,
    )


def _render_exact(wave: Wave, context: dict[str, Any]) -> bytes:
    view = find_view(wave.survey, mode=wave.mode)
    if view.results is None or not view.results.is_final:
        raise _NothingToShow(_explain(view))
    context = context | _describe(wave.survey, view.results)
    return render_to_string("aggregator/results/public_results.html", context).encode()


def _explain(view: View) -> str:
    return "too-few" if view.is_settled else "counting"


def _describe(survey: Survey, results: Results) -> dict[str, Any]:
    truth = known_truth(survey)
    return {
        "results": results,
        "blocks": render_blocks(
            results,
            truth=truth,
            is_public=True,
            describe_readers=lambda: describe_exact_readers(results.manifest),
        ),
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
    content = render_to_string(f"aggregator/{template}", context).encode()
    return answer(request, content, content_type=HTML, status=status)
