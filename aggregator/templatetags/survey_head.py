"""The top of every page of a survey: its title, its state, and the tabs."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils import timezone

from aggregator.results.overview.head import read_head
from aggregator.results.overview.next_steps import limit_to_role
from surveys.access import allows
from surveys.manifest.manifest import Publication
from surveys.models import Survey

register = template.Library()

RELEASES = "releases"  # only for surveys that publish protected figures
# The tabs in their order on every page, each with its name, words and page.
TABS = (
    ("overview", "Overview", "surveys:edit"),
    ("questions", "Questions", "surveys:questions"),
    ("results", "Results", "aggregator:results"),
    ("compare", "Compare", "aggregator:compare"),
    ("data", "Data", "aggregator:data"),
    (RELEASES, "Releases", "aggregator:releases"),
    ("settings", "Settings", "surveys:settings"),
)


@register.inclusion_tag("surveys/_survey_head.html", takes_context=True)
def survey_head(
    context: template.RequestContext, survey: Survey, tab: str, *, heading: bool = True
) -> dict[str, object]:
    """Show the head; pass `heading=False` if the page's heading is not the survey's title."""
    assert any(tab == name for name, _, _ in TABS), tab
    return {
        **_build_context(context, survey),
        "tabs": _list_tabs(survey),
        "tab": tab,
        "heading": heading,
        # The tab Releases has its own actions.
        "quiet": not heading or tab == RELEASES,
    }


@register.inclusion_tag("surveys/_survey_status.html", takes_context=True)
def survey_status(context: template.RequestContext, survey: Survey) -> dict[str, object]:
    """Show the part of the head that changes at a look; htmx replaces it in place."""
    return {**_build_context(context, survey), "swapped": True, "heading": True}


def _list_tabs(survey: Survey) -> list[tuple[str, str, str]]:
    is_protected = survey.publication == Publication.PROTECTED
    return [
        (name, words, page)
        for name, words, page in TABS
        if (is_protected or name != RELEASES) and allows(survey, page)
    ]


def _build_context(context: template.RequestContext, survey: Survey) -> dict[str, object]:
    head = read_head(survey, now=timezone.now())
    step = limit_to_role(head.step, survey, is_draft=head.sealed is None)
    address = reverse(step.route, args=[survey.slug]) if step.route else ""
    if address == context["request"].path:
        address = ""  # link only to a part of this page, which is already open
    return {
        "survey": survey,
        "head": head,
        "step": step,
        "address": address + step.fragment,
    }
