"""The pages of the methods, which need no account, because anyone may check how Murmur works."""

from __future__ import annotations

from itertools import pairwise

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.methods.document import (
    find_section,
    list_chapters,
    read_chapter,
    read_figure,
    render_introduction,
)
from aggregator.methods.search import LONGEST_QUERY, search


@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    """Show all chapters with their sections, or the sections that contain a query's words."""
    query = " ".join(request.GET.get("q", "")[:LONGEST_QUERY].split())
    context = {
        "query": query,
        "longest_query": LONGEST_QUERY,
        "results": search(query) if query else None,
        "introduction": render_introduction(),
        "chapters": list_chapters(),
    }
    return render(request, "aggregator/methods/contents.html", context)


@require_safe
def chapter(request: HttpRequest, name: str) -> HttpResponse:
    found = read_chapter(name)
    if found is None:
        raise Http404("There is no such chapter.")
    chapters = list_chapters()
    context = {
        "chapter": found,
        "previous": next((a for a, b in pairwise(chapters) if b == found), None),
        "next": next((b for a, b in pairwise(chapters) if a == found), None),
    }
    return render(request, "aggregator/methods/chapter.html", context)


@require_safe
def paragraph(request: HttpRequest, anchor: str) -> HttpResponse:
    """Show one section, for pages that open it below a link."""
    section = find_section(anchor)
    if section is None:
        raise Http404("There is no such section.")
    return render(request, "aggregator/methods/paragraph.html", {"section": section})


@require_safe
def figure(request: HttpRequest, name: str) -> HttpResponse:  # noqa: ARG001
    picture = read_figure(name)
    if picture is None:
        raise Http404("There is no such picture.")
    return HttpResponse(picture, content_type="image/svg+xml")
