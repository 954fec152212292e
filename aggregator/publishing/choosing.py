"""Choose what to release and see its price; publishing it spends ε on the ledger."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts import audit
from aggregator.models import Release, today
from aggregator.publishing.desk import Desk, find_desk
from aggregator.publishing.forms import ReleaseForm
from aggregator.publishing.pages import show_overview
from aggregator.publishing.prices import Price, find_price
from aggregator.publishing.words import KINDS
from aggregator.releases.ledger import find_public_day, reserve_release
from aggregator.releases.requests import NotReleasable, ReleaseRequest, list_candidates
from surveys.access import for_owner
from surveys.formatting import cap
from surveys.manifest.languages import language_tag
from surveys.manifest.modes import Mode
from surveys.models import Survey

REFUSED = 422
NOTHING_CHARGED = "Nothing was charged."
RESERVED = "ε = {} was charged. A worker draws the noise in a moment."
KNOWN = "This release exists already. Nothing was charged again."


@for_owner
@require_http_methods(["GET", "HEAD", "POST"])
def release_new(
    request: HttpRequest, survey: Survey, kind: str, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    """Show the form with the price of its choice; POST publishes it."""
    if kind not in Release.Kind.values:
        raise Http404("There is no such kind of release.")
    desk = find_desk(survey, mode=mode)
    if request.method == "POST":
        return _publish(request, desk, Release.Kind(kind))
    if desk.obstacle is not None or not list_candidates(desk.manifest, Release.Kind(kind)):
        return show_overview(request, desk)
    return _show_form(request, desk, Release.Kind(kind), data=request.GET)


def _publish(request: HttpRequest, desk: Desk, kind: Release.Kind) -> HttpResponseBase:
    """Charge the release and lead to it; the same request leads to the release that exists.

    So a button that is pressed twice charges once.
    """
    if desk.account is None or desk.wave is None:
        return show_overview(request, desk, status=REFUSED)
    wanted = _read_request(request.POST, kind)
    known = {release.pk for release in desk.account.releases}
    try:
        release = reserve_release(wave=desk.wave, request=wanted)
    except NotReleasable as refused:
        return _refuse(request, desk, kind, problem=f"{refused} {NOTHING_CHARGED}")
    if release.pk in known:
        messages.success(request, KNOWN)
    else:
        audit.record(
            "release-reserved",
            account=request.user.pk,
            survey=desk.survey.slug,
            release=str(release.pk),
            epsilon=cap(release.epsilon_hundredths),
        )
        messages.success(request, RESERVED.format(cap(release.epsilon_hundredths)))
    return redirect("aggregator:release", desk.survey.slug, release.pk)


def _read_request(posted: QueryDict, kind: Release.Kind) -> ReleaseRequest:
    """Read what the page of the price posts: names, and ε in hundredths."""
    digits = posted.get("epsilon_hundredths", "")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 6
    return ReleaseRequest(
        kind=kind,
        questions=tuple(posted.getlist("questions")),
        epsilon_hundredths=int(digits) if is_number else 0,
    )


def _refuse(request: HttpRequest, desk: Desk, kind: Release.Kind, *, problem: str) -> HttpResponse:
    if desk.obstacle is not None or not list_candidates(desk.manifest, kind):
        return show_overview(request, desk, problem=problem, status=REFUSED)
    return _show_form(request, desk, kind, data=None, problem=problem, status=REFUSED)


def _show_form(
    request: HttpRequest,
    desk: Desk,
    kind: Release.Kind,
    *,
    data: QueryDict | None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    assert desk.account is not None
    manifest = desk.manifest
    form = ReleaseForm(
        data,
        kind=kind,
        manifest=manifest,
        candidates=list_candidates(manifest, kind),
        left=desk.account.left,
    )
    price: Price | None = None
    if form.is_valid():
        price, problem = _price(desk, form, problem)
    context = {
        "desk": desk,
        "survey": desk.survey,
        "account": desk.account,
        "kind": kind,
        "words": KINDS[kind],
        "form": form,
        "price": price,
        "problem": problem,
        "public_from": find_public_day(desk.survey, today()),
        "lang": language_tag(manifest.language),
    }
    return render(request, "aggregator/publishing/release_new.html", context, status=status)


def _price(desk: Desk, form: ReleaseForm, problem: str) -> tuple[Price | None, str]:
    """Price a valid form; the second value says what is wrong, if anything is."""
    assert desk.wave is not None
    assert desk.account is not None
    try:
        price = find_price(
            wave=desk.wave,
            account=desk.account,
            request=form.request,
            people=form.people_planned,
        )
    except NotReleasable as refused:
        return None, problem or str(refused)
    return price, problem
