"""The page and the file from which anyone can read a survey's published results."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from aggregator.exports.csv_format import CONTENT_TYPE as CSV
from aggregator.exports.csv_format import name_wave
from aggregator.exports.releases import write_releases
from aggregator.publishing.public_page import (
    NothingToShow,
    build_context,
    build_exact_page,
    build_releases_page,
    build_translated_context,
    find_published_wave,
    render_in,
)
from aggregator.publishing.public_releases import find_public
from surveys.downloads import attach
from surveys.manifest.modes import Mode
from surveys.models import Wave, today
from surveys.models.stored_texts import Text, make_key
from surveys.views.respondent.compressed import HTML, answer, serve
from surveys.views.respondent.deleted import GONE, unless_deleted

OK = 200


@require_safe
@unless_deleted
def public_results(request: HttpRequest, slug: str, mode: Mode = Mode.ELECTRONIC) -> HttpResponse:
    """Show published results; reply 404 if none are published, 410 if the owner withdrew them."""
    wave = find_published_wave(slug, mode)
    if wave.survey.public_results_off:
        return _explain(request, wave, "off", status=GONE)
    if wave.description.publishes_releases:
        page = build_releases_page(wave, _choose_language(request, wave))
        return serve(request, page, content_type=HTML)
    try:
        if wave.is_open:
            raise NothingToShow("open")
        return serve(request, build_exact_page(wave, build_context(wave)), content_type=HTML)
    except NothingToShow as nothing:
        return _explain(request, wave, "no_results", why=nothing.args[0])


@require_safe
@unless_deleted
def public_results_csv(
    request: HttpRequest, slug: str, mode: Mode = Mode.ELECTRONIC
) -> HttpResponse:
    """Send the releases of a protected survey as a file; reply 404 for other surveys."""
    wave = find_published_wave(slug, mode)
    if not wave.description.publishes_releases:
        raise Http404
    if wave.survey.public_results_off:
        return _explain(request, wave, "off", status=GONE)
    releases = find_public(wave, day=today())
    file = Text(
        name=f"{wave.manifest_hash_hex} releases.csv",
        key=make_key(wave.survey.origin, [one.key for one in releases]),
        make=lambda: write_releases(wave, releases),
        wave=wave.pk,
    )
    response = serve(request, file, content_type=CSV)
    if response.status_code == OK:
        attach(response, f"{name_wave(wave, slug=slug)}_releases.csv")
    return response


def _choose_language(request: HttpRequest, wave: Wave) -> str:
    """Return the language given in the URL, or else the survey's own language."""
    manifest = wave.description
    language = request.GET.get("lang", "")
    return language if language in manifest.languages else manifest.language


def _explain(
    request: HttpRequest, wave: Wave, page: str, *, why: str = "", status: int = OK
) -> HttpResponse:
    """Say why there are no results: `page` is "off" if withdrawn, otherwise "no_results"."""
    language = _choose_language(request, wave)
    context = build_translated_context(wave, language) | {"why": why}
    content = render_in(language, f"results/public_{page}.html", context).encode()
    return answer(request, content, content_type=HTML, status=status)
