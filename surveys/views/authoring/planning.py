"""Shows, before a survey asks anyone, what it could find out. Nothing is stored."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surveys.authoring.forms import PlanForm
from surveys.planning.assumptions import POWER
from surveys.planning.plan_sentences import (
    describe_assumption,
    describe_verdict,
    list_warnings,
    write_wanted,
)
from surveys.planning.planner import CROWD, DELTA, Plan
from surveys.planning.protections import compare_protections, cost_of_publication
from surveys.planning.release_table import list_release_lines
from surveys.views.authoring.draft_page import REFUSED


@require_safe
@login_required
def show_plan(request: HttpRequest) -> HttpResponse:
    form = PlanForm.from_query(request.GET.dict())
    context: dict[str, object] = {"form": form}
    if not form.is_valid():
        return render(request, "surveys/planning/plan.html", context, status=REFUSED)
    plan = Plan(given=form.read())
    context |= {
        "plan": plan,
        "verdict": describe_verdict(plan),
        "assumption": describe_assumption(plan),
        "warnings": list_warnings(plan),
        "wanted": write_wanted(plan.given),
        "delta": DELTA,
        "power": POWER,
        "crowd": CROWD,
        "comparison": compare_protections(plan.given),
        "publication": cost_of_publication(plan.given),
        "releases": list_release_lines(plan.given.flips),
    }
    return render(request, "surveys/planning/plan.html", context)
