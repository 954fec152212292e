"""Shows the questions of a template, and makes a draft from it."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from surveys.definition.checking import check_definition
from surveys.definition.creating import create_previewed, stamp_preview
from surveys.definition.format import ImportOutdated
from surveys.definition.preview import list_rows
from surveys.definition.templates.offered import find_template
from surveys.views.authoring.draft_page import REFUSED, page_or_form, read_stamp, to_edit


@page_or_form
@login_required
def use_template(request: HttpRequest, name: str) -> HttpResponse:
    template, user = find_template(name), cast(User, request.user)
    if template is None:
        raise Http404
    refusal = ""
    if request.method == "POST":
        try:
            survey = create_previewed(template.definition, owner=user, stamp=read_stamp(request))
        except ImportOutdated as error:
            refusal = str(error)
        else:
            messages.success(request, "The draft was created. It is not open yet.")
            return to_edit(survey)
    context = {
        "template": template,
        "rows": list_rows(check_definition(template.definition).questions),
        "stamp": stamp_preview(template.definition, owner=user),
        "refusal": refusal,
    }
    status = REFUSED if refusal else 200
    return render(request, "surveys/authoring/template.html", context, status=status)
