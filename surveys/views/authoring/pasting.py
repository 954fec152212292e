"""Lets authors paste questions into a draft, and preview them before they are created."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from surveys.access import Action
from surveys.authoring.errors import BrokenRules, PreviewOutdated
from surveys.authoring.pasting.creating import create_pasted
from surveys.authoring.pasting.form import PasteForm
from surveys.authoring.pasting.reading import read_paste
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
    to_questions,
)

CREATE = "create"  # the name of the button


@page_or_form
@authoring(Action.EDIT)
def paste(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the text box, then a preview of the text, and create the questions as previewed."""
    require_draft(survey)
    form = PasteForm(posted_to(request))
    reading = None
    if form.is_valid():
        text = form.cleaned_data["text"]
        if CREATE in request.POST:
            try:
                added = create_pasted(survey=survey, text=text, stamp=read_stamp(request))
            except (BrokenRules, PreviewOutdated) as error:
                form.add_error(None, str(error))
            else:
                s = "" if len(added) == 1 else "s"
                messages.success(request, f"{len(added)} question{s} created.")
                return to_questions(survey, f"#question-{added[0].pk}")
        reading = read_paste(text, survey=survey)
        form["text"].help_text = ""
    context = {"survey": survey, "form": form, "reading": reading}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/paste.html", context, status=status)
