"""A researcher's pages about releases: the overview, and one release."""

from __future__ import annotations

from datetime import timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator.models import Release
from aggregator.publishing.desk import Desk, Obstacle, find_desk
from aggregator.publishing.forms import write_choice
from aggregator.publishing.public_releases import find_why_not
from aggregator.publishing.rows import list_figures
from aggregator.publishing.words import list_choices, name_release
from aggregator.releases.figures import Unsure, read_shown
from aggregator.releases.sentences import describe_unplanned, list_lines, promise
from aggregator.upkeep.due import WorkKind, find_due_since
from surveys.access import Action, needs
from surveys.history.recording import record_seen
from surveys.manifest.languages import language_tag
from surveys.manifest.modes import Mode
from surveys.models import Survey
from surveys.releasing.choice import OFFERED

NO_RELEASE = "There is no such release."
SECONDS_TO_RELOAD = 2
# The page reloads less often if an operator must first fix a problem.
SECONDS_WITH_PROBLEM = 30
# A worker draws within seconds. The longest other task may keep it busy for half of this time.
MINUTES_UNTIL_LATE = 10


@needs(Action.READ)
@require_safe
def releases(
    request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    return show_overview(request, find_desk(survey, mode=mode))


def show_overview(
    request: HttpRequest, desk: Desk, *, problem: str = "", status: int = 200
) -> HttpResponse:
    """Show the releases of a wave; `problem` says why a request was refused."""
    context: dict[str, object] = {"desk": desk, "survey": desk.survey, "problem": problem}
    if desk.obstacle == Obstacle.NOT_PROTECTED:
        return render(request, "aggregator/publishing/not_protected.html", context, status=status)
    if desk.account is not None:
        context |= {
            "account": desk.account,
            "wave": desk.wave,
            "choices": list_choices(desk.manifest, left=desk.account.left),
            "releases": [
                (
                    release,
                    name_release(desk.manifest, release),
                    describe_unplanned(release, desk.manifest),
                )
                for release in reversed(desk.account.releases)
            ],
            "has_coins": bool(desk.manifest.coin_questions),
        }
    return render(request, "aggregator/publishing/releases.html", context, status=status)


@needs(Action.READ)
@require_safe
def release(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:
    """Show one release, or that it is still being drawn."""
    found = _find(survey, pk)
    wave = found.wave
    manifest = wave.description
    desk = find_desk(survey, mode=Mode(wave.mode))
    context: dict[str, object] = {
        "desk": desk,
        "survey": survey,
        "release": found,
        "name": name_release(manifest, found),
        "lang": language_tag(manifest.language),
        "choice": write_choice(found, manifest) if found.kind in OFFERED else "",
        "unplanned": describe_unplanned(found, manifest),
    }
    if found.state == Release.State.DRAWN:
        record_seen(survey)
        spent = desk.account.spent if desk.account else found.epsilon_hundredths
        figures = read_shown(list(found.wave.releases.filter(state=found.state)), manifest)[
            found.pk
        ]
        context |= {
            "figures": None if isinstance(figures, Unsure) else list_figures(figures),
            "why_not": find_why_not(figures),
            "promise": promise(found, manifest),
            "lines": list_lines(found, manifest, spent_hundredths=spent),
        }
    minutes_late = 0
    if found.state == Release.State.RESERVED:
        minutes_late = context["minutes_late"] = _count_minutes_late(found)
    response = render(request, "aggregator/publishing/release.html", context)
    if found.state == Release.State.RESERVED:
        is_slow = bool(found.problem or minutes_late)
        response["Refresh"] = str(SECONDS_WITH_PROBLEM if is_slow else SECONDS_TO_RELOAD)
    return response


def _count_minutes_late(release: Release) -> int:
    """Count the whole minutes since a release became due, or return 0 if it is not late."""
    since = find_due_since(WorkKind.RELEASE, release.pk)
    if since is None:
        return 0
    minutes = (timezone.now() - since) // timedelta(minutes=1)
    return minutes if minutes >= MINUTES_UNTIL_LATE else 0


def _find(survey: Survey, pk: int) -> Release:
    found = (
        Release.objects.select_related("wave__survey").filter(wave__survey=survey, pk=pk).first()
    )
    if found is None:
        raise Http404(NO_RELEASE)
    return found
