"""The planned releases of a protected draft, as its author reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from surveys.authoring.launch_problems import Problem, link_questions, link_setting
from surveys.authoring.planned.release_form import ReleasePlanForm
from surveys.formatting import cap, percent, whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey
from surveys.planning.release_table import describe_key_driver_people
from surveys.releasing.alerts import WRONG, find_noticed_share
from surveys.releasing.choice import (
    MOST_PLANNED,
    add_up_planned,
    describe_planned_excess,
    find_planned_problem,
)
from surveys.releasing.noise import Noise, ReleasePlan, plan_all
from surveys.releasing.words import find_group, find_questions, name_request


@dataclass(frozen=True, kw_only=True)
class ReleaseLine:
    """One planned release. `problem` says why it cannot be made, if it cannot."""

    pk: int
    title: str
    texts: tuple[str, ...]  # the texts of the questions
    cost: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class ReleaseCard:
    """The planned releases and their form. Amounts of ε are in hundredths."""

    lines: tuple[ReleaseLine, ...]
    form: ReleasePlanForm | None  # None if no more releases can be planned
    spent: int
    cap: int
    excess: str  # why not all of the releases can be made


def build_release_card(
    survey: Survey, manifest: Manifest, form: ReleasePlanForm | None = None
) -> ReleaseCard | None:
    """Describe the planned releases of a protected draft, or return None for another draft."""
    if manifest.planned_releases is None:
        return None
    planned = manifest.planned_releases
    problems = [find_planned_problem(request, manifest) for request in planned]
    # The noise of a table can depend on the tables before it.
    plans = [None] * len(planned) if any(problems) else plan_all(manifest)
    lines = tuple(
        ReleaseLine(
            pk=stored.pk,
            title=name_request(manifest, request),
            texts=tuple(
                one.text
                for one in (*find_questions(manifest, request), find_group(manifest, request))
                if one is not None
            ),
            cost=_describe_cost(request, plan, manifest),
            problem=problem,
        )
        for stored, request, plan, problem in zip(
            survey.planned_releases.all(), planned, plans, problems, strict=True
        )
    )
    spent, most = add_up_planned(manifest), manifest.release_epsilon_hundredths or 0
    if form is None and spent < most and len(lines) < MOST_PLANNED:
        form = ReleasePlanForm(manifest=manifest)
    return ReleaseCard(
        lines=lines, form=form, spent=spent, cap=most, excess=describe_planned_excess(manifest)
    )


def _describe_cost(request: ReleaseRequest, plan: ReleasePlan | None, manifest: Manifest) -> str:
    """Write what a release spends, and how many people it needs."""
    cost = f"ε = {cap(request.epsilon_hundredths)}"
    if plan is None:
        return cost
    if request.kind == ReleaseKind.ALERT:
        return f"{cost}. {_describe_alert(request, manifest)}"
    if request.kind == ReleaseKind.KEY_DRIVER:
        people = manifest.people_planned
        return f"{cost}. {describe_key_driver_people(request, manifest, people=people)}"
    if request.kind != ReleaseKind.TABLE:
        return f"{cost}. Readers see it where the table of the question is shown."
    least = Noise.of(plan.mechanism, plan.scale).least
    group = find_group(manifest, request)
    # Every group has separate counts. The groups are assumed to be of equal size.
    needed = least * (len(group.options) if group else 1)
    people, part = (
        manifest.people_planned,
        min(map(manifest.find_asked_fraction, request.questions)),
    )
    few = people is not None and round(people * part) < needed
    more = " You expect fewer: spend more on the table, or choose fewer questions." if few else ""
    if group:
        return (
            f"{cost}. Readers see the groups in which about {whole(least)} people are asked.{more}"
        )
    return f"{cost}. Readers see the table if about {whole(least)} people are asked.{more}"


def _describe_alert(request: ReleaseRequest, manifest: Manifest) -> str:
    """Say which share triggers an alert if the expected number of people take part."""
    people = manifest.people_planned or 0
    share = find_noticed_share(request, manifest, people=people)
    when = (
        f"9 times in 10 if {percent(share, digits=1)} of {whole(people)} people say so"
        if share <= 1
        else "less often than 9 times in 10, even if all say so"
    )
    return (
        f"The alert comes {when}. If no more than {request.percent}\N{NO-BREAK SPACE}% say so, it "
        f"comes at most {WRONG} times in 100."
    )


def list_release_titles(manifest: Manifest) -> list[str]:
    return [
        f"{name_request(manifest, request)}, ε = {cap(request.epsilon_hundredths)}"
        for request in manifest.planned_releases or ()
    ]


def find_planned_release_problems(manifest: Manifest) -> Iterator[str]:
    """Say which planned releases prevent the survey from opening, and how to fix each problem."""
    for request in manifest.planned_releases or ():
        if problem := find_planned_problem(request, manifest):
            name = name_request(manifest, request)
            href = link_questions(manifest.survey, "planned-releases")
            yield Problem(f"{name} cannot be released. {problem}", "You can remove it.", href=href)
    if excess := describe_planned_excess(manifest):
        said, _, repair = excess.rpartition(". ")
        href = link_setting(manifest.survey, "release_epsilon")
        yield Problem(f"{said}.", repair, href=href)


def drop_from_releases(question: Question) -> str:
    """Remove a deleted question from the planned releases, and return a sentence that says so.

    A release is deleted if the question was its only one, formed the groups of its table, or was
    the outcome of its key driver.
    """
    told = ""
    for plan in question.survey.planned_releases.all():
        if question.pk not in (plan.group, *plan.questions):
            continue
        told = "The planned releases no longer include what was deleted."
        is_outcome = plan.kind == ReleaseKind.KEY_DRIVER and plan.questions[0] == question.pk
        plan.questions = [key for key in plan.questions if key != question.pk]
        if plan.questions and not is_outcome and question.pk != plan.group:
            plan.save(update_fields=["questions"])
        else:
            plan.delete()
    return told
