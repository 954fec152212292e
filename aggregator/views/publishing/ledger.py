"""The ledger of a wave: what every release spent, and the sums over all of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.exports.csv_format import CONTENT_TYPE, name_wave
from aggregator.exports.ledger import write_ledger
from aggregator.models import Release
from aggregator.publishing.desk import find_desk
from aggregator.publishing.words import name_release
from aggregator.releases.ledger import Sums
from aggregator.releases.sentences import write_own_scale
from aggregator.views.publishing.releases import show_overview
from surveys.access import Action, needs
from surveys.downloads import attach
from surveys.formatting import cap, delta, epsilon
from surveys.manifest.manifest import HUNDREDTHS, NANOS
from surveys.manifest.modes import Mode
from surveys.models import Survey

NO_LEDGER = "This survey has no ledger of releases."


@dataclass(frozen=True, kw_only=True)
class SumRow:
    """A sum of one kind; `value` is empty if the sum does not apply."""

    name: str
    value: str
    about: str
    counts: bool = False
    is_larger: bool = False  # than the basic sum


@needs(Action.READ)
@require_safe
def release_ledger(
    request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    desk = find_desk(survey, mode=mode)
    if desk.account is None:
        return show_overview(request, desk)
    manifest, sums = desk.manifest, desk.account.sums
    context = {
        "desk": desk,
        "survey": survey,
        "account": desk.account,
        "sums": list_sums(sums) if sums else [],
        "delta": delta(round(sums.delta * NANOS)) if sums else "",
        "rows": [
            (release, name_release(manifest, release), describe_noise(release))
            for release in desk.account.releases
        ],
    }
    return render(request, "aggregator/publishing/ledger.html", context)


def describe_noise(release: Release) -> str:
    return f"{release.get_mechanism_display()}, scale {write_own_scale(release)}"


def list_sums(sums: Sums) -> list[SumRow]:
    """List the sums side by side; only the basic sum counts against the cap."""
    return [
        SumRow(
            name="Basic",
            value=cap(round(sums.basic * HUNDREDTHS)),  # a sum of whole hundredths
            about="The sum of all ε. It also holds for releases that you choose one after another.",
            counts=True,
        ),
        _compare(sums, sums.advanced, name="Advanced", about="Lower for many small releases."),
        _compare(sums, sums.zcdp, name="zCDP", about="For Laplace, Gaussian and choices together."),
        _compare(
            sums,
            sums.exact,
            name="Exact",
            about="The smallest that holds for any releases with these ε.",
        ),
    ]


def _compare(sums: Sums, value: float | None, *, name: str, about: str) -> SumRow:
    is_larger = value is not None and value > sums.basic
    return SumRow(name=name, value=_write(value), about=about, is_larger=is_larger)


def _write(value: float | None) -> str:
    return "" if value is None else epsilon(value)


@needs(Action.EXPORT)
@require_safe
def release_ledger_csv(
    request: HttpRequest,  # noqa: ARG001
    survey: Survey,
    mode: Mode = Mode.ELECTRONIC,
) -> HttpResponseBase:
    desk = find_desk(survey, mode=mode)
    if desk.account is None or desk.wave is None:
        raise Http404(NO_LEDGER)
    response = HttpResponse(
        write_ledger(desk.account, desk.wave.description), content_type=CONTENT_TYPE
    )
    name = f"{name_wave(desk.wave, slug=survey.slug)}_ledger.csv"
    return attach(response, name)
