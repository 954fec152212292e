"""Every view that changes a survey writes a row of its history.

The routes come from the URLconf. A route that accepts POST but is not listed here fails, so a new
view cannot be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from aggregator.models import Comparison
from surveys.authoring.services import add_question, add_translation, plan_comparison, plan_release
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import HistoryRow, Kind, Role, Survey, Team, Verb, Wave
from surveys.people.invitations import invite
from surveys.people.teams import attach, create_team
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import process, sign_in
from tests.support.roles import losing_the_role
from tests.support.routes import Route, all_routes
from tests.support.waves import make_released_wave, make_wave, send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HIDDEN = re.compile(r'type="hidden" name="(\w+)" value="([^"]*)"')
REQUEST = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=50)
CHOICE = {"questions": "q1", "epsilon": "0.50", "people": "1000"}


@dataclass(frozen=True, kw_only=True)
class Act:
    """What a person sends to a route to change a survey, and the row that this change writes."""

    verb: Verb = Verb.CHANGED
    kind: Kind
    state: str = "draft"
    sent: Callable[[Client, Survey], dict[str, Any]] = lambda _client, _survey: {}


def sends(**fields: Any) -> Callable[[Client, Survey], dict[str, Any]]:
    return lambda _client, _survey: fields


def hidden(page: str, **more: Any) -> Callable[[Client, Survey], dict[str, Any]]:
    """Return a function that reads the hidden fields of a page and adds other fields."""

    def read(client: Client, survey: Survey) -> dict[str, Any]:
        found = dict(reversed(HIDDEN.findall(client.get(reverse(page, args=[survey.slug])).text)))
        return {**found, **more}

    return read


def paste(client: Client, survey: Survey) -> dict[str, Any]:
    text = {"text": "Another one?"}
    page = client.post(reverse("surveys:questions_paste", args=[survey.slug]), text)
    return {**dict(HIDDEN.findall(page.text)), **text, "create": ""}


def insert(client: Client, survey: Survey) -> dict[str, Any]:
    """Tick a question from another survey by the same author."""
    source = make_survey(owner=survey.owner, questions=("Pink?",))
    page = client.get(
        reverse("surveys:questions_insert", args=[survey.slug]), {"survey": source.slug}
    )
    return {**dict(HIDDEN.findall(page.text)), "questions": source.questions.get().pk}


def select(_client: Client, survey: Survey) -> dict[str, Any]:
    return {"action": "delete", "question": survey.questions.all()[0].pk}


def delete(client: Client, survey: Survey) -> dict[str, Any]:
    """Delete a question, and return the stamp with which the page offers to undo the deletion."""
    chosen = reverse("surveys:questions_selected", args=[survey.slug])
    page = client.post(chosen, select(client, survey), follow=True).text
    return {"stamp": page.split('name="stamp" value="')[1].split('"')[0]}


def preview_template(client: Client, _survey: Survey) -> dict[str, Any]:
    return dict(HIDDEN.findall(client.get(reverse("surveys:template", args=["pay"])).text))


def take_remedy(client: Client, survey: Survey) -> dict[str, Any]:
    """Apply the first remedy, and return the fields with which the page offers to undo it."""
    send = hidden("surveys:questions")
    client.post(reverse("surveys:budget_remedy", args=[survey.slug]), send(client, survey))
    return send(client, survey)


def translate(client: Client, survey: Survey) -> dict[str, Any]:
    page = client.get(reverse("surveys:translation", args=[survey.slug, "fr"])).text
    return dict.fromkeys(re.findall(r'name="(words-\w+)"', page), "Un mot")


ACTS: dict[str, Act] = {
    "surveys:create": Act(verb=Verb.CREATED, kind=Kind.SURVEY, sent=sends(title="New")),
    "surveys:template": Act(verb=Verb.CREATED, kind=Kind.SURVEY, sent=preview_template),
    "surveys:settings": Act(kind=Kind.SETTINGS, sent=sends(title="Other", language="en")),
    "surveys:settings_page": Act(kind=Kind.SETTINGS, sent=sends(title="Other", language="en")),
    "surveys:question_create": Act(
        kind=Kind.QUESTIONS, sent=sends(type="yes_no", text="Q?", flips="25")
    ),
    "surveys:question_edit": Act(
        kind=Kind.QUESTIONS, sent=sends(type="yes_no", text="Q?", flips="25")
    ),
    "surveys:questions_paste": Act(kind=Kind.QUESTIONS, sent=paste),
    "surveys:questions_insert": Act(kind=Kind.QUESTIONS, sent=insert),
    "surveys:question_move": Act(kind=Kind.QUESTIONS, sent=sends(direction="down")),
    "surveys:questions_selected": Act(kind=Kind.QUESTIONS, sent=select),
    "surveys:questions_restore": Act(kind=Kind.QUESTIONS, sent=delete),
    "surveys:budget_remedy": Act(kind=Kind.STRENGTHS, sent=hidden("surveys:questions")),
    "surveys:budget_undo": Act(kind=Kind.STRENGTHS, sent=take_remedy),
    "surveys:planned": Act(kind=Kind.PLANNED_COMPARISON, sent=sends(outcome="q2", group="q1")),
    "surveys:planned_remove": Act(kind=Kind.PLANNED_COMPARISON),
    "surveys:planned_releases": Act(
        kind=Kind.PLANNED_RELEASE,
        state="protected",
        sent=sends(kind="table", questions="q2", epsilon="0.20"),
    ),
    "surveys:planned_release_remove": Act(kind=Kind.PLANNED_RELEASE, state="protected"),
    "surveys:languages": Act(kind=Kind.TRANSLATION, sent=sends(language="de")),
    "surveys:translation": Act(kind=Kind.TRANSLATION, sent=translate),
    "surveys:translation_remove": Act(kind=Kind.TRANSLATION),
    "surveys:launch": Act(
        verb=Verb.OPENED, kind=Kind.SURVEY, state="ready", sent=hidden("surveys:launch")
    ),
    "surveys:close": Act(verb=Verb.CLOSED, kind=Kind.SURVEY, state="open"),
    "surveys:copy": Act(verb=Verb.CREATED, kind=Kind.SURVEY),
    "surveys:delete": Act(verb=Verb.DELETED, kind=Kind.SURVEY),
    "surveys:people": Act(
        verb=Verb.INVITED, kind=Kind.PERSON, sent=sends(address="new@example.org", role="1")
    ),
    "surveys:person": Act(verb=Verb.CHANGED_ROLE, kind=Kind.PERSON, sent=sends(role="1")),
    "surveys:people_team": Act(
        verb=Verb.JOINED,
        kind=Kind.TEAM,
        sent=lambda _client, survey: {
            "team": create_team(name="Field", account=survey.owner.pk).pk
        },
    ),
    "surveys:invitation_withdraw": Act(verb=Verb.REMOVED, kind=Kind.INVITATION),
    "surveys:hand_over": Act(
        verb=Verb.HANDED_OVER,
        kind=Kind.SURVEY,
        sent=lambda _client, survey: {"account": survey.memberships.last().account_id},  # type: ignore[union-attr]
    ),
    "surveys:team": Act(
        verb=Verb.INVITED,
        kind=Kind.TEAM,
        state="team",
        sent=sends(address="new@example.org", role="1"),
    ),
    "surveys:team_member": Act(
        verb=Verb.CHANGED_ROLE, kind=Kind.TEAM, state="team", sent=sends(role="3")
    ),
    "surveys:team_invitation_withdraw": Act(verb=Verb.REMOVED, kind=Kind.INVITATION, state="team"),
    "surveys:team_delete": Act(verb=Verb.REMOVED, kind=Kind.TEAM, state="team"),
    "surveys:leave": Act(verb=Verb.REMOVED, kind=Kind.PERSON),
    "surveys:public_results": Act(
        verb=Verb.WITHDREW, kind=Kind.PUBLIC_PAGE, state="open", sent=sends(switch="off")
    ),
    "aggregator:delete": Act(
        verb=Verb.DELETED,
        kind=Kind.SURVEY,
        state="closed",
        sent=lambda _client, survey: {"title": survey.title},
    ),
    "aggregator:background": Act(
        kind=Kind.BACKGROUND, state="counted", sent=sends(is_sent="True", q3="on")
    ),
    "aggregator:report": Act(
        kind=Kind.PEOPLE_INVITED, state="closed", sent=sends(people_invited="900")
    ),
    "aggregator:compare": Act(
        verb=Verb.COMPARED,
        kind=Kind.COMPARISON,
        state="closed",
        sent=sends(kind="table", outcome="q1", group="q2"),
    ),
    "aggregator:key_driver": Act(
        verb=Verb.COMPARED, kind=Kind.COMPARISON, state="closed", sent=sends(outcome="q1")
    ),
    "aggregator:breakdown": Act(verb=Verb.COMPARED, kind=Kind.BREAKDOWN, state="closed"),
    "aggregator:release_new": Act(
        verb=Verb.RELEASED,
        kind=Kind.RELEASE,
        state="released",
        sent=sends(**CHOICE, price=REQUEST.digest),
    ),
    "aggregator:coin_release_new": Act(
        verb=Verb.RELEASED,
        kind=Kind.RELEASE,
        state="released",
        sent=sends(**CHOICE, price=REQUEST.digest),
    ),
}
# Routes that are not tested here: those of accounts, respondents and programs, and views of files.
# These views change nothing, or other tests check the rows that they write.
OTHERS = re.compile(
    r"account|mfa_|aggregator:(coins|hand_in|intake|api_definition_validate|api_surveys|sealed_half)$"
    r"|surveys:(import|imported|definition_import|definition_compare|translation_file|teams"
    r"|invitation|hand_over_all|account_leave)$"
)
# These routes change nothing that already exists, or give up the account's own role.
ASKING_NO_ROLE = ("surveys:create", "surveys:template", "surveys:leave")


def make_filled_draft() -> Survey:
    draft = make_survey(minimum_batch=50, display_minimum=50, cap=200)
    for word in ("Red", "Blue", "Green", "Dark", "Light", "Yellow"):
        add_question(survey=draft, text=f"{word}?", flips=25)
    add_translation(survey=draft, language="fr")
    plan_comparison(survey=draft, names=["q1", "q2"])
    draft.memberships.create(account=make_user(), role=Role.OWNER)
    invite(address="asked@example.org", role=Role.VIEWER, by=draft.owner.pk, survey=draft)
    return draft


def make_team_survey() -> Survey:
    survey = make_survey()
    owner = survey.owner.pk
    team = create_team(name="Field", account=owner)
    team.members.create(account=make_user(), role=Role.VIEWER)
    attach(survey=survey, team=team, by=owner)
    invite(address="asked@example.org", role=Role.VIEWER, by=owner, team=team)
    return survey


def make_protected() -> Survey:
    protected = make_survey(publication=Publication.PROTECTED)
    plan_release(survey=protected, request=REQUEST)
    return protected


def make_released() -> Survey:
    survey = make_released_wave(coins=True).survey
    process(survey.waves.manual().get())
    return survey


def make_closed(*, accepts: bool) -> Survey:
    survey = make_survey()
    options = ["North", "East", "South", "West"]
    add_question(survey=survey, type=QuestionType.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    send_many(wave, [bytes([0, i % 2, i % 4]) for i in range(240)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=accepts)
    return survey


STATES: dict[str, Callable[[], Survey]] = {
    "draft": make_filled_draft,
    "ready": lambda: make_survey(minimum_batch=50, display_minimum=50, cap=200),
    "team": make_team_survey,
    "protected": make_protected,
    "open": lambda: make_wave(publication=Publication.EXACT).survey,
    "released": make_released,
    "closed": lambda: make_closed(accepts=True),
    "counted": lambda: make_closed(accepts=False),
}


def find_address(route: Route, survey: Survey) -> str:
    row: Any = survey.questions.first()
    if route.name.startswith("surveys:planned"):
        row = survey.planned_comparisons.first() or survey.planned_releases.first()
    if route.name == "surveys:person":
        row = survey.memberships.last()
    if route.name == "surveys:invitation_withdraw":
        row = survey.invitations.last()
    values = {"slug": survey.slug, "code": "fr", "question": "q3"}
    if route.name.startswith("surveys:team_") or route.name == "surveys:team":
        row = Team.objects.get(attachments__survey=survey)
        values |= {"member": row.members.last().pk, "invitation": row.invitations.last().pk}
    values["pk"] = row and row.pk
    values |= {"page": "text"}
    values |= {"kind": "table", "name": "x", "language": "en", "digest": "0" * 64}
    if route.name == "surveys:template":
        values["name"] = "pay"
    values |= {"version": "x", "anchor": "x", "uidb36": "1", "key": "x"}
    return reverse(route.name, kwargs={name: values[name] for name in route.parameters})


def test_every_view_that_accepts_a_form_is_listed() -> None:
    surveys = {of_team: STATES["team" if of_team else "draft"]() for of_team in (True, False)}
    clients = {of_team: sign_in(survey.owner) for of_team, survey in surveys.items()}
    accepting = set()
    for route in all_routes():
        if not OTHERS.match(route.name):
            of_team = route.name.startswith("surveys:team")
            client, survey = clients[of_team], surveys[of_team]
            client.raise_request_exception = False
            before = transaction.savepoint()
            status = client.post(find_address(route, survey)).status_code
            transaction.savepoint_rollback(before)
            if status != 405:
                accepting.add(route.name)
    assert accepting == set(ACTS)


def _lose_the_role_at_this_moment(
    client: Client, address: str, sent: dict[str, Any], survey: Survey
) -> None:
    """Send a form, and remove the person's role as soon as the view has checked the role."""
    before = transaction.savepoint()
    written = HistoryRow.objects.count()
    with losing_the_role(survey):
        assert client.post(address, sent).status_code in (302, 404, 422)
    assert HistoryRow.objects.count() == written
    transaction.savepoint_rollback(before)


@pytest.mark.parametrize("name", ACTS)
def test_what_it_changes_is_in_the_history(
    name: str, django_capture_on_commit_callbacks: Any
) -> None:
    act = ACTS[name]
    survey = STATES[act.state]()
    owner = survey.owner
    client = sign_in(owner)
    [route] = [one for one in all_routes() if one.name == name]
    sent = act.sent(client, survey)
    address = find_address(route, survey)
    if name == "aggregator:breakdown":
        Comparison.objects.all().delete()
    before = set(HistoryRow.objects.values_list("slug", "number"))
    if name not in ASKING_NO_ROLE:
        _lose_the_role_at_this_moment(client, address, sent, survey)
    with django_capture_on_commit_callbacks():
        assert client.post(address, sent).status_code in (200, 302)
    written = [row for row in HistoryRow.objects.all() if (row.slug, row.number) not in before]
    assert [(row.verb, row.kind, row.account) for row in written] == [
        (act.verb, act.kind, owner.pk)
    ]
    connection.check_constraints()
