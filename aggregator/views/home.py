"""The start page, where visitors read what Murmur is and researchers see their own surveys."""

from __future__ import annotations

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator import problems
from aggregator.results.overview.survey_list import find_surveys, read_lines
from aggregator.simulation.demo import find_open_demo

PAGE_SIZE = 25


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        context = {
            "demo": find_open_demo(now=timezone.now()),
            "source_url": settings.SOURCE_URL,
        }
        return render(request, "aggregator/site/landing.html", context)
    page = Paginator(find_surveys(account=request.user), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    lines = read_lines(page.object_list, now=timezone.now())
    # Show the version only to people who are signed in, as strangers need not know its faults.
    return render(
        request,
        "aggregator/site/home.html",
        {"page": page, "lines": lines, "release": settings.VERSION},
    )


@require_safe
def problem_list(request: HttpRequest) -> HttpResponse:
    """Show the complete list of reasons that problem+json responses refer to."""
    return render(
        request,
        "aggregator/site/problems.html",
        {"intake": problems.INTAKE_PROBLEMS, "api": problems.API_PROBLEMS},
    )


@require_safe
def problem(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """Redirect from the type of a problem to its line in the list."""
    if not any(known.slug == slug for known in problems.ALL_PROBLEMS):
        raise Http404
    return redirect(f"{reverse('aggregator:problems')}#{slug}")


@require_safe
def api_guide(request: HttpRequest) -> HttpResponse:
    context = {"requests_per_minute": settings.API_REQUESTS_PER_MINUTE}
    return render(request, "aggregator/site/api.html", context)
