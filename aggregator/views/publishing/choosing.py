"""Choose a release and see its price; publishing it spends ε on the ledger."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aggregator.models import Release
from aggregator.publishing.desk import Desk, find_desk
from aggregator.publishing.forms import ReleaseForm
from aggregator.publishing.prices import Price, find_price
from aggregator.releases.ledger import find_public_day, reserve_release
from aggregator.views.publishing.releases import show_overview
from surveys.access import Action, needs
from surveys.form_fields import read_hundredths
from surveys.formatting import cap
from surveys.manifest.languages import language_tag
from surveys.manifest.modes import Mode
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey, today
from surveys.releasing.choice import OFFERED, NotReleasable, check_requested, list_candidates
from surveys.releasing.words import KINDS, describe_unfit

REFUSED = 422
LOST = Release.State.LOST
NOTHING_CHARGED = "Nothing was charged."
NOT_PUBLISHED = "This was not published, and nothing was charged."
CHANGED = (
    "You changed the choice after its price was shown, so nothing was charged. This is the new "
    "price."
)
RESERVED = "ε = {} was charged. The noise is being drawn; this takes a moment."
KNOWN = "This release exists already. Nothing was charged again."


@needs(Action.RELEASE)
@require_http_methods(["GET", "HEAD", "POST"])
def release_new(
    request: HttpRequest, survey: Survey, kind: str, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    """Show the form and the price of what was chosen; POST shows the price or publishes."""
    if kind not in OFFERED:
        raise Http404("There is no such kind of release.")
    desk, kind = find_desk(survey, mode=mode), ReleaseKind(kind)
    known = _find_known(desk, request.POST)
    if known is not None:
        messages.success(request, KNOWN)
        return redirect("aggregator:release", desk.survey.slug, known.pk)
    if desk.obstacle is not None or not list_candidates(desk.manifest, kind):
        return _refuse(request, desk)
    if request.method != "POST":
        return _show(request, desk, _bind(desk, kind, request.GET or None))
    form = _bind(desk, kind, request.POST)
    if not form.is_valid():
        return _show(request, desk, form, status=REFUSED)
    if "price" not in request.POST:
        return redirect(f"{request.path}?{form.write_query()}#price")
    return _publish(request, desk, form)


def _find_known(desk: Desk, posted: QueryDict) -> Release | None:
    """Find the release that this form has already made, however little ε is left."""
    if desk.account is None or "price" not in posted:
        return None
    for release in desk.account.releases:
        wanted = ReleaseRequest.from_json(release.request)
        chosen = set(posted.getlist("questions"))
        is_same = chosen == set(wanted.questions) and (
            read_hundredths(posted.get("epsilon", "")) == wanted.epsilon_hundredths
        )
        if is_same and release.request_hash == posted["price"] and release.state != LOST:
            return release
    return None


def _refuse(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Say on the overview why nothing can be released."""
    if request.method != "POST":
        return show_overview(request, desk)
    return show_overview(request, desk, problem=NOT_PUBLISHED, status=REFUSED)


def _bind(desk: Desk, kind: ReleaseKind, data: QueryDict | None) -> ReleaseForm:
    assert desk.account is not None
    manifest = desk.manifest
    candidates = list_candidates(manifest, kind)
    return ReleaseForm(
        data, kind=kind, manifest=manifest, candidates=candidates, left=desk.account.left
    )


def _publish(request: HttpRequest, desk: Desk, form: ReleaseForm) -> HttpResponseBase:
    """Charge the choice on the form if the shown price was for the same choice.

    Repeating a request leads to the existing release, so pressing the button twice charges only
    once.
    """
    assert desk.account is not None
    assert desk.wave is not None
    try:
        wanted = check_requested(form.request, desk.manifest)
        if request.POST["price"] != wanted.digest:
            return _show(request, desk, form, problem=CHANGED, status=REFUSED)
        known = {release.pk for release in desk.account.releases}
        release = reserve_release(wave=desk.wave, request=wanted)
    except NotReleasable as refused:
        problem = f"{refused} {NOTHING_CHARGED}"
        return _show(request, desk, form, problem=problem, status=REFUSED)
    if release.pk in known:
        messages.success(request, KNOWN)
    else:
        messages.success(request, RESERVED.format(cap(release.epsilon_hundredths)))
    return redirect("aggregator:release", desk.survey.slug, release.pk)


def _show(
    request: HttpRequest, desk: Desk, form: ReleaseForm, *, problem: str = "", status: int = 200
) -> HttpResponse:
    """Show the form, and a price for a valid choice."""
    price: Price | None = None
    if form.is_valid():
        price, problem = _price(desk, form, problem)
    context = {
        "desk": desk,
        "survey": desk.survey,
        "account": desk.account,
        "kind": form.kind,
        "words": KINDS[form.kind],
        "unfit": describe_unfit(desk.manifest, form.kind),
        "form": form,
        "price": price,
        "problem": problem,
        "public_from": find_public_day(desk.survey, today()),
        "lang": language_tag(desk.manifest.language),
    }
    return render(request, "aggregator/publishing/release_new.html", context, status=status)


def _price(desk: Desk, form: ReleaseForm, problem: str) -> tuple[Price | None, str]:
    """Price a valid form; the second value is the problem, if there is one."""
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
