"""The methods page and its pictures, which need no account: anyone may check how it works."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.views.methods_document import list_chapters, read_figure, render_methods


@require_safe
def methods(request: HttpRequest) -> HttpResponse:
    context = {"body": render_methods(), "chapters": list_chapters()}
    return render(request, "aggregator/site/methods.html", context)


@require_safe
def methods_figure(request: HttpRequest, name: str) -> HttpResponse:  # noqa: ARG001
    picture = read_figure(name)
    if picture is None:
        raise Http404("There is no such picture.")
    return HttpResponse(picture, content_type="image/svg+xml")
