"""A survey's published results, which need no account, session, cookie or script.

Exact results are the blocks of the owner's page that describe all people together. They leave out
codes, groups, and questions whose rule depends on an answer that was not scrambled. They appear
once the survey is closed and the last reports are counted. Until then, and if there is nothing to
show, the page does not depend on the number of reports. A protected survey shows its releases and
nothing else, in each of its languages; exact results are in English.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import Http404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import override

from aggregator.models import Release
from aggregator.publishing.public_releases import (
    Charged,
    describe_all_readers,
    find_charged,
    find_public,
    list_public,
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
from surveys.formatting import join_list
from surveys.manifest.languages import direction, language_tag, translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Survey, Wave, today
from surveys.models.stored_texts import Text, make_key, read_text
from surveys.releasing.words import name_request
from surveys.respondent.label.label import describe_in_english, describe_protection
from surveys.respondent.page import link_languages

OK = 200


def store_public_page(wave: Wave) -> None:
    """Make the page of final results before anyone visits it.

    Workers call this function when they have counted the last reports. If a worker stops here, or
    after an upgrade, the first visit makes the page. Pages are made one at a time.
    """
    try:
        wave = find_published_wave(wave.survey.slug, Mode(wave.mode))
        if not wave.is_open and not wave.description.publishes_releases:
            read_text(build_exact_page(wave, build_context(wave)))
    except (Http404, NothingToShow):
        return


def find_published_wave(slug: str, mode: Mode) -> Wave:
    survey = Survey.objects.filter(slug=slug).first()
    wave = survey.waves.shown().filter(mode=mode).newest() if survey is not None else None
    if survey is None or wave is None or not wave.description.has_public_results:
        raise Http404
    wave.survey = survey
    return wave


def build_context(wave: Wave) -> dict[str, Any]:
    """Return the variables of an English page with the author's texts in the survey's language."""
    manifest = wave.description
    return {
        "survey": wave.survey,
        "wave": wave,
        "manifest": manifest,
        "is_of_coins": wave.mode == Mode.MANUAL,
        "has_coins": bool(manifest.coin_questions),
        "lang": language_tag(manifest.language),
    }


def build_translated_context(wave: Wave, language: str) -> dict[str, Any]:
    """Return the variables of a page in one language, with links to the other languages."""
    source = wave.description
    name = "public_coin_results" if wave.mode == Mode.MANUAL else "public_results"
    address = reverse(f"aggregator:{name}", args=[wave.survey.slug])
    return {
        **build_context(wave),
        "manifest": translate_manifest(source, language, wave.words.get(language, "")),
        "lang": language_tag(language),
        "language": language,
        "tag": language_tag(language),
        "direction": direction(language),
        "languages": link_languages(
            source, but=language, find_url=lambda code: f"{address}?lang={code}"
        ),
    }


def render_in(language: str, template: str, context: dict[str, Any]) -> SafeString:
    # Render without the request, whose context processors would read the session.
    with override(language):
        return render_to_string(f"aggregator/{template}", context)


def build_releases_page(wave: Wave, language: str) -> Text:
    """Describe the page of a protected survey in one of its languages, as it is today."""
    day = today()
    releases = find_public(wave, day=day)
    charged = find_charged(wave, day=day)
    awaited = [] if charged.is_suspended else _find_awaited(wave, releases, day=day)
    return Text(
        name=f"{wave.manifest_hash_hex} releases {language}",
        # The page depends only on these values.
        key=make_key(
            language,
            wave.survey.origin,
            charged.is_suspended,
            [one.key for one in charged.releases],
            [one.key for one in releases],
            [one.digest for one in awaited],
        ),
        make=lambda: _render_releases(wave, releases, charged, awaited, language).encode(),
        wave=wave.pk,
    )


def _render_releases(
    wave: Wave,
    releases: list[Release],
    charged: Charged,
    awaited: list[ReleaseRequest],
    language: str,
) -> SafeString:
    context = build_translated_context(wave, language)
    manifest: Manifest = context["manifest"]
    with override(language):
        context |= {
            "planned": [name_request(manifest, one) for one in awaited],
            "releases": list_public(manifest, releases, spent=charged.spent),
            "together": promise_together(
                manifest, spent_hundredths=charged.spent, delta_nanos=charged.delta
            ),
            "label": describe_protection(manifest),
            "has_groups": any(one.request.get("group") for one in releases),
        }
    context |= {
        # These are for specialists and are in English.
        "readers": describe_all_readers(manifest, charged) if releases else [],
        "epsilons": list_epsilons(manifest),
        "is_suspended": charged.is_suspended,
    }
    return render_in(language, "publishing/public_releases.html", context)


def _find_awaited(wave: Wave, releases: list[Release], *, day: date) -> list[ReleaseRequest]:
    """Find the planned releases that may still appear; `releases` are the ones public on `day`.

    A lost release is dropped on the day when its figure would have appeared, because pages change
    only at midnight.
    """
    lost = wave.releases.filter(state=Release.State.LOST, public_from__lte=day)
    gone = {release.request_hash for release in (*lost, *releases)}
    planned = wave.description.planned_releases or ()
    return [one for one in planned if one.digest not in gone]


class NothingToShow(Exception):
    """The argument says why: the survey is open, reports are being counted, or too few came."""


def build_exact_page(wave: Wave, context: dict[str, Any]) -> Text:
    """Describe the page of final results, which is stored once they exist."""
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
        raise NothingToShow(_explain(view))
    context = context | _build_results_context(wave.survey, view.results)
    return render_to_string("aggregator/results/public_results.html", context).encode()


def _explain(view: View) -> str:
    return "too-few" if view.is_settled else "counting"


def _build_results_context(survey: Survey, results: Results) -> dict[str, Any]:
    truth = known_truth(survey)
    return {
        "results": results,
        "blocks": render_blocks(
            results,
            truth=truth,
            describe_label=lambda: describe_in_english(results.manifest),
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
        "alarm": describe_alarm(results, is_public=True),
        "burst": "" if truth else describe_burst(results),
        "known_truth": describe_truth(survey),
    }


def _name_left_out(manifest: Manifest) -> str:
    """Say which questions are not published, and why, or return an empty string if all are."""
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
