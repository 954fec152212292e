"""The top of every page of a survey: its title, where it stands, and the six tabs."""

from __future__ import annotations

from django import template
from django.utils import timezone

from aggregator.results.overview.head import read_head
from surveys.models import Survey

register = template.Library()

# In this order everywhere: the name of a tab, its words and its page.
TABS = (
    ("overview", "Overview", "surveys:edit"),
    ("questions", "Questions", "surveys:questions"),
    ("results", "Results", "aggregator:results"),
    ("compare", "Compare", "aggregator:compare"),
    ("data", "Data", "aggregator:data"),
    ("settings", "Settings", "surveys:settings"),
)


@register.inclusion_tag("surveys/_survey_head.html")
def survey_head(survey: Survey, tab: str, *, heading: bool = True) -> dict[str, object]:
    """Show the head; with `heading=False` the title is no heading, and the page writes its own."""
    assert any(tab == name for name, _, _ in TABS), tab
    return {
        "survey": survey,
        "tabs": TABS,
        "tab": tab,
        "heading": heading,
        "head": read_head(survey, now=timezone.now()),
    }


@register.inclusion_tag("surveys/_survey_status.html")
def survey_status(survey: Survey) -> dict[str, object]:
    """Show the part of the head that a look changes, to replace it in place (htmx)."""
    return {"survey": survey, "head": read_head(survey, now=timezone.now()), "swapped": True}
