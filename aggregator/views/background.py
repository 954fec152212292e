"""Choose, only once, which background questions the file of rows contains."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from aggregator.background.forms import BackgroundForm
from aggregator.background.levels import find_levels, read_background
from aggregator.background.rows_files import AlreadyChosenError, choose, find_rows_file
from aggregator.batches.combinations import list_declared
from aggregator.models import RowsFile
from aggregator.problems import SURVEY_NOT_COUNTED
from aggregator.results.display import Results
from aggregator.views.downloads import explain
from aggregator.views.mode_addresses import view_of
from surveys.access import Action, needs
from surveys.history.recording import record_seen
from surveys.manifest.languages import language_tag
from surveys.manifest.modes import Mode
from surveys.models import Survey

REFUSED = 422
CHOSEN = "The background of the rows is chosen."
NOTHING_CHANGED = (
    "The background had already been chosen, perhaps in another window. It was not changed."
)


@needs(Action.CHOOSE_BACKGROUND)
@require_http_methods(["GET", "HEAD", "POST"])
def background(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """Show the form or the choice; POST stores the choice."""
    view = view_of(survey, mode=Mode.ELECTRONIC)
    if view.results is None or not view.results.has_rows:
        return explain(request, view, status=SURVEY_NOT_COUNTED.status)
    results, rows_file = view.results, find_rows_file(view.results.wave)
    if rows_file is None:
        response = _show(request, results, rows_file, None)
        response["Refresh"] = "2"
        return response
    form = BackgroundForm(
        request.POST if request.method == "POST" else None,
        proposed=read_background(rows_file.proposed),
        questions={one.name: one for one in list_declared(results.manifest)},
        nobody=results.nobody,
    )
    if not (form.is_bound and form.is_valid()):
        return _show(request, results, rows_file, form)
    try:
        choose(rows_file, form.background)
    except AlreadyChosenError:
        messages.warning(request, NOTHING_CHANGED)
    else:
        messages.success(request, CHOSEN)
    return redirect("aggregator:data", slug=survey.slug)


def _show(
    request: HttpRequest,
    results: Results,
    rows_file: RowsFile | None,
    form: BackgroundForm | None,
) -> HttpResponse:
    proposed = read_background(rows_file.proposed) if rows_file else ()
    record_seen(results.wave.survey)  # the proposal depends on the sizes of groups
    context = {
        "survey": results.wave.survey,
        "results": results,
        "rows_file": rows_file,
        "form": form,
        "left_out": [
            one for one in list_declared(results.manifest) if not find_levels(proposed, one.name)
        ],
        "lang": language_tag(results.manifest.language),
    }
    status = REFUSED if form is not None and form.errors else 200
    return render(request, "aggregator/data/background.html", context, status=status)
