"""Lets authors insert questions of their other surveys into a draft."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from surveys.access import Action, find_surveys_for
from surveys.authoring.errors import BrokenRules, InsertionOutdated, TooManyQuestions
from surveys.authoring.forms.inserting import InsertForm, SourceForm
from surveys.authoring.inserting import Inserted, insert_questions
from surveys.authoring.stamps import stamp_insertion
from surveys.formatting import join_list
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


@page_or_form
@authoring(Action.EDIT)
def insert(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the author's surveys, then the questions of one, and insert the ticked questions."""
    require_draft(survey)
    others = find_surveys_for(request.user, Action.EDIT).exclude(pk=survey.pk)
    others = others.filter(rehearsal=False, questions__isnull=False).distinct()
    surveys = list(others.order_by("-pk"))
    sent = request.POST if request.method == "POST" else request.GET
    source = SourceForm(sent if "survey" in sent else None, surveys=surveys)
    context: dict[str, object] = {"survey": survey, "source": surveys and source}
    is_wrong = request.method == "POST" or bool(source.errors)
    if source.is_valid():
        [chosen] = [one for one in surveys if one.slug == source.cleaned_data["survey"]]
        form = InsertForm(posted_to(request), questions=list(chosen.questions.all()))
        if form.is_valid():
            try:
                inserted = insert_questions(
                    survey=survey,
                    source=chosen,
                    keys=form.cleaned_data["questions"],
                    stamp=read_stamp(request),
                )
            except (BrokenRules, InsertionOutdated, TooManyQuestions) as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, _describe(inserted))
                return to_questions(survey, f"#question-{inserted.questions[0].pk}")
        context["form"] = form
        context["stamp"] = stamp_insertion(survey.questions.all(), source=chosen.questions.all())
    status = REFUSED if is_wrong else 200
    return render(request, "surveys/authoring/insert.html", context, status=status)


def _describe(inserted: Inserted) -> str:
    count, names = len(inserted.questions), inserted.without_rule
    said = f"{count} question{'' if count == 1 else 's'} inserted."
    if names:
        one = len(names) == 1
        said += (
            f" The rule{'' if one else 's'} of {join_list(names)} in that survey "
            f"{'was' if one else 'were'} left out, because "
            f"{'it needs' if one else 'they need'} questions that you did not insert."
        )
    return said
