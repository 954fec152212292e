"""The ledger of a wave: every release with what it spent, and the sums of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.exports.csv_format import CONTENT_TYPE, Cell, name_wave, write_row
from aggregator.models import Release
from aggregator.publishing.desk import Desk, find_desk
from aggregator.publishing.pages import show_overview
from aggregator.publishing.words import find_questions, name_release
from aggregator.releases.ledger import Account, Sums
from aggregator.releases.sentences import find_own_scale, write_own_scale
from surveys.access import for_owner
from surveys.downloads import attach
from surveys.formatting import cap, delta, epsilon
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest
from surveys.manifest.modes import Mode
from surveys.models import Survey

NO_LEDGER = "This survey has no ledger of releases."


@dataclass(frozen=True, kw_only=True)
class SumRow:
    """One way to add up; empty where it does not apply, or says more than the basic sum."""

    name: str
    value: str
    about: str
    counts: bool = False
    is_larger: bool = False  # than the basic sum


@for_owner
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
    """List the sums side by side; only the basic one counts against the cap."""
    return [
        SumRow(
            name="Basic",
            value=cap(round(sums.basic * HUNDREDTHS)),  # a sum of whole hundredths
            about="All ε added up. It holds for releases that you choose one after another.",
            counts=True,
        ),
        _compare(sums, sums.advanced, name="Advanced", about="For many small releases."),
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


# --- as a file ------------------------------------------------------------------------------------

ROW_COLUMNS: Mapping[str, Callable[[Release, Manifest], Cell]] = {
    "release": lambda release, _: release.pk,
    "kind": lambda release, _: release.kind,
    "questions": lambda release, manifest: " ".join(
        one.name for one in find_questions(manifest, release)
    ),
    "epsilon": lambda release, _: release.epsilon_hundredths / HUNDREDTHS,
    "delta": lambda release, _: release.delta_nanos / NANOS,
    "rho": lambda release, _: release.rho,
    "mechanism": lambda release, _: release.mechanism,
    "scale": lambda release, _: str(find_own_scale(release)),  # an exact fraction
    "state": lambda release, _: release.state,
    "reserved_on": lambda release, _: release.reserved_on.isoformat(),
    "public_from": lambda release, _: release.public_from.isoformat(),
    "library": lambda release, _: release.library,
}
# The same in every row.
WAVE_COLUMNS: Mapping[str, Callable[[Account], Cell]] = {
    "cap": lambda account: account.cap / HUNDREDTHS,
    "spent": lambda account: account.spent / HUNDREDTHS,
    "delta_cap": lambda account: account.delta_cap / NANOS,
    "delta_spent": lambda account: account.delta_spent / NANOS,
    "suspended": lambda account: account.suspended,
    "basic_sum": lambda account: account.sums.basic if account.sums else None,
    "advanced_sum": lambda account: account.sums.advanced if account.sums else None,
    "zcdp_sum": lambda account: account.sums.zcdp if account.sums else None,
    "exact_sum": lambda account: account.sums.exact if account.sums else None,
    "delta_of_sums": lambda account: account.sums.delta if account.sums else None,
}


@for_owner
@require_safe
def release_ledger_csv(
    request: HttpRequest,  # noqa: ARG001
    survey: Survey,
    mode: Mode = Mode.ELECTRONIC,
) -> HttpResponseBase:
    desk = find_desk(survey, mode=mode)
    if desk.account is None or desk.wave is None:
        raise Http404(NO_LEDGER)
    response = HttpResponse(write_ledger(desk, desk.account), content_type=CONTENT_TYPE)
    name = f"{name_wave(desk.wave, slug=survey.slug)}_ledger.csv"
    return attach(response, name)


def write_ledger(desk: Desk, account: Account) -> bytes:
    """Write one row per release; columns about the wave say the same in each."""
    of_wave = [read(account) for read in WAVE_COLUMNS.values()]
    rows = [write_row([*ROW_COLUMNS, *WAVE_COLUMNS])]
    rows += (
        write_row([*(read(release, desk.manifest) for read in ROW_COLUMNS.values()), *of_wave])
        for release in account.releases
    )
    return b"".join(rows)
