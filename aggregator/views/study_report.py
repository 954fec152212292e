"""The study report as a printable page, with the number of people invited."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aggregator.models import Release
from aggregator.results.display import View, find_view
from aggregator.study_report.forms import PeopleInvitedForm
from aggregator.study_report.sections.head import count_coin_reports, count_reports
from aggregator.study_report.writing import write_report
from surveys.access import Action, needs
from surveys.history.recording import record_seen
from surveys.lifecycle.services import state_people_invited
from surveys.models import Survey

REFUSED = 422
FILES = (("report.pdf", "PDF"), ("report.docx", "Word file"))
SAVED = "The number of people invited was saved."


@needs(Action.READ, post=Action.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    view = find_view(survey)
    if view.wave is None:
        status = REFUSED if request.method == "POST" else 200
        return render(
            request, "aggregator/study_report/draft.html", {"survey": survey}, status=status
        )
    form = _bind(request, view)
    if form.is_bound and form.is_valid():
        state_people_invited(survey=survey, people=form.cleaned_data["people_invited"])
        messages.success(request, SAVED)
        return redirect("aggregator:report", slug=survey.slug)
    if view.results is not None or view.wave.releases.filter(state=Release.State.DRAWN).exists():
        record_seen(survey)
    return _show(request, view, form)


def _bind(request: HttpRequest, view: View) -> PeopleInvitedForm:
    reports = (count_reports(view) or 0) + count_coin_reports(view)
    data = request.POST if request.method == "POST" else None
    return PeopleInvitedForm(data, stated=view.survey.people_invited, reports=reports)


def _show(request: HttpRequest, view: View, form: PeopleInvitedForm) -> HttpResponse:
    context = {
        "survey": view.survey,
        "report": write_report(view),
        "form": form,
        "files": FILES if view.results else (),
    }
    status = REFUSED if form.errors else 200
    return render(request, "aggregator/study_report/report.html", context, status=status)
