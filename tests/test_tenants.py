"""Permissions: every route × method × each role, other accounts, an operator and a visitor.

The routes come from the URLconf. A route that is not listed here fails, so a new page
cannot be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import resolve, reverse

from accounts.models import User
from accounts.tokens import Scope, make_token
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.models import Comparison
from aggregator.results.snapshots import update_snapshot
from surveys.authoring.services import add_question, copy_survey
from surveys.lifecycle.services import close_wave
from surveys.models import (
    Import,
    Invitation,
    Membership,
    Question,
    Role,
    Survey,
    Team,
    TeamMember,
    TeamSurvey,
    Translation,
    Wave,
)
from surveys.people.invitations import invite
from surveys.people.members import remove
from surveys.people.teams import create_team
from surveys.respondent import client_files
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.routes import Route, all_routes
from tests.support.waves import send_many

# POST comes last because it may change what the other methods read.
METHODS = ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "POST")
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
OWNED = ("surveys:", "aggregator:")
Statuses = tuple[int, int, int]  # in the order owner, stranger, visitor
TO_SIGN_IN = 302
MEMBERS = {role.label.lower(): role for role in Role}
# The second of these people owns another survey, and the operator runs the site.
STRANGERS = ("stranger", "another's owner", "operator")
CAST = (*MEMBERS, *STRANGERS, "visitor")
SELDOM = ("analyst", "another's owner", "operator")
CANARY = "Canary7"  # in all text that belongs to the owner
# The lowest role for each page of a survey or a team, and for its form. All other such pages are
# for owners only.
LEAST: dict[Role, str] = {
    Role.VIEWER: "surveys:share surveys:share_qr_svg surveys:share_qr_png surveys:poster "
    "surveys:leave surveys:team aggregator:results aggregator:results_panel "
    "aggregator:coin_results aggregator:coin_results_panel aggregator:mode_comparison "
    "aggregator:report aggregator:break_it aggregator:releases aggregator:coin_releases "
    "aggregator:release_ledger aggregator:coin_release_ledger aggregator:release "
    "aggregator:api_survey aggregator:api_results",
    Role.ANALYST: "aggregator:data aggregator:reports_csv aggregator:codebook_csv "
    "aggregator:estimates_csv aggregator:coin_estimates_csv aggregator:choose_chart "
    "aggregator:file aggregator:coin_file aggregator:mode_comparison_csv aggregator:compare "
    "aggregator:breakdowns aggregator:breakdown aggregator:breakdown_csv aggregator:key_driver "
    "aggregator:release_ledger_csv aggregator:coin_release_ledger_csv aggregator:sealed_half "
    "aggregator:comparison aggregator:comparison_panel aggregator:comparison_csv "
    "aggregator:api_reports_csv aggregator:api_codebook_csv aggregator:api_estimates_csv",
    Role.EDITOR: "surveys:edit surveys:definition surveys:definition_compare surveys:settings "
    "surveys:settings_page surveys:questions surveys:question_create surveys:questions_paste "
    "surveys:question_edit surveys:question_move surveys:questions_insert "
    "surveys:questions_selected surveys:questions_restore surveys:budget_remedy "
    "surveys:budget_undo surveys:planned surveys:planned_remove surveys:planned_releases "
    "surveys:planned_release_remove surveys:preview surveys:preview_manifest surveys:languages "
    "surveys:translation surveys:translation_remove surveys:translation_file "
    "surveys:translation_file_download surveys:xlsform surveys:redcap surveys:copy "
    "aggregator:api_definition",
}
LEAST_FOR_FORMS = {
    "aggregator:report": Role.EDITOR,
    "aggregator:sealed_half": Role.OWNER,
    "surveys:team": Role.OWNER,
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """The statuses for the three people; `other` applies to every method without a field here."""

    get: Statuses
    post: Statuses | None = None
    put: Statuses | None = None
    other: Statuses
    survey: str = "draft"
    below: int = 403  # for members whose role is too low

    def expected(self, method: str) -> Statuses:
        if method in ("GET", "HEAD"):
            return self.get
        if method == "POST" and self.post is not None:
            return self.post
        if method == "PUT" and self.put is not None:
            return self.put
        return self.other

    def find_status(self, name: str, method: str, person: str) -> int:
        owner, stranger, visitor = self.expected(method)
        if person == "visitor":
            return visitor
        if person in STRANGERS:
            return stranger
        is_shared = stranger != 404 or visitor == 404 or not name.startswith(OWNED)
        return owner if is_shared or MEMBERS[person] >= least(name, method) else self.below


def least(name: str, method: str) -> Role:
    found = next((role for role, names in LEAST.items() if name in names.split()), Role.OWNER)
    return LEAST_FOR_FORMS.get(name, found) if method == "POST" else found


def everyone(status: int) -> Statuses:
    return (status, status, status)


def own(status: int) -> Statuses:
    """Give access only to the owner: strangers find nothing, and visitors are sent to sign in."""
    return (status, 404, TO_SIGN_IN)


PUBLIC = Row(get=everyone(200), other=everyone(405))
RESULTS = Row(get=own(200), other=own(405), survey="launched")
FILES = replace(RESULTS, get=own(202))  # a worker makes the file
ROWS = replace(RESULTS, get=own(409))  # the files exist once the survey has closed
PUBLISHED = replace(PUBLIC, get=everyone(404), survey="launched")  # this survey publishes nothing
RESPOND = Row(get=everyone(200), other=everyone(405), survey="launched")
SHARED = Row(get=own(200), other=everyone(405), survey="launched")
API = Row(get=(200, 404, 403), other=(405, 405, 403), survey="launched")

TABLE: dict[str, Row] = {
    # accounts: the same for owner and stranger, who are both signed in
    "account": Row(get=(200, 200, 302), post=(302, 302, 302), other=everyone(405)),
    # the page asks for the password first
    "account_address": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "account_address_keep": Row(get=everyone(405), post=everyone(302), other=everyone(405)),
    "account_address_confirm": Row(get=everyone(200), post=everyone(200), other=everyone(405)),
    "account_end_session": Row(get=everyone(405), post=everyone(302), other=everyone(405)),
    # the page asks for the password first
    "account_token": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "account_token_revoke": Row(get=everyone(405), post=everyone(302), other=everyone(405)),
    "surveys:account_leave": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "surveys:account_left": PUBLIC,
    "surveys:hand_over_all": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    "mfa_activate_totp": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    # nobody here has a second factor
    "mfa_deactivate_totp": Row(get=(404, 404, 302), post=(404, 404, 302), other=everyone(405)),
    "mfa_authenticate": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "mfa_reauthenticate": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "mfa_view_recovery_codes": Row(get=(404, 404, 302), post=(405, 405, 302), other=everyone(405)),
    "mfa_generate_recovery_codes": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "account_login": Row(get=(302, 302, 200), post=(302, 302, 200), other=everyone(405)),
    "account_logout": Row(get=(200, 200, 302), post=everyone(302), other=everyone(405)),
    "account_inactive": Row(get=everyone(200), other=everyone(405)),
    "account_reauthenticate": Row(get=(200, 200, 302), post=(200, 200, 302), other=everyone(405)),
    "account_change_password": Row(get=(200, 200, 302), post=(200, 200, 302), other=everyone(405)),
    "account_reset_password": Row(get=everyone(200), post=everyone(200), other=everyone(405)),
    "account_reset_password_done": Row(get=everyone(200), other=everyone(405)),
    "account_reset_password_from_key": Row(
        get=everyone(200), post=everyone(200), other=everyone(405)
    ),
    "account_reset_password_from_key_done": Row(get=everyone(200), other=everyone(405)),
    # teams: for strangers and for members with a lower role, they do not exist
    "surveys:teams": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    "surveys:team": Row(get=own(200), post=own(422), other=everyone(405), below=404),
    "surveys:team_member": Row(get=everyone(405), post=own(302), other=everyone(405), below=404),
    "surveys:team_invitation_withdraw": Row(
        get=everyone(405), post=own(302), other=everyone(405), below=404
    ),
    "surveys:team_delete": Row(get=own(200), post=own(302), other=everyone(405), below=404),
    # nobody sent this invitation
    "surveys:invitation": Row(get=everyone(410), post=everyone(410), other=everyone(405)),
    "surveys:people": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:person": Row(get=everyone(405), post=own(302), other=everyone(405)),
    "surveys:people_team": Row(get=everyone(405), post=own(302), other=everyone(405)),
    "surveys:invitation_withdraw": Row(get=everyone(405), post=own(302), other=everyone(405)),
    "surveys:hand_over": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:leave": Row(get=own(200), post=own(302), other=everyone(405)),
    # authoring is for members only
    "surveys:create": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    "surveys:template": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    "surveys:import": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    # an import that was read: only for the account that uploaded it
    "surveys:imported": Row(get=own(200), post=own(302), other=everyone(405), below=404),
    "surveys:imported_panel": Row(get=own(200), other=everyone(405), below=404),
    "surveys:definition_import": Row(
        get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)
    ),
    "surveys:definition": Row(get=own(200), other=everyone(405)),
    "surveys:definition_compare": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:definition_schema": PUBLIC,
    # lower roles are redirected to the results
    "surveys:edit": Row(get=own(200), other=everyone(405), below=302),
    "surveys:settings": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:settings_page": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:questions": Row(get=own(200), other=everyone(405)),
    "surveys:question_create": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:questions_paste": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:questions_insert": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:question_edit": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:question_move": Row(get=everyone(405), post=own(400), other=everyone(405)),
    "surveys:questions_selected": Row(get=everyone(405), post=own(422), other=everyone(405)),
    "surveys:questions_restore": Row(get=everyone(405), post=own(422), other=everyone(405)),
    "surveys:budget_remedy": Row(get=everyone(405), post=own(400), other=everyone(405)),
    "surveys:budget_undo": Row(get=everyone(405), post=own(400), other=everyone(405)),
    "surveys:planned": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:planned_remove": Row(get=everyone(405), post=own(302), other=everyone(405)),
    # A survey that publishes nothing plans no releases.
    "surveys:planned_releases": Row(get=own(302), post=own(302), other=everyone(405)),
    "surveys:planned_release_remove": Row(get=everyone(405), post=own(302), other=everyone(405)),
    "surveys:preview": Row(get=own(200), other=everyone(405)),
    "surveys:preview_manifest": Row(get=own(200), other=everyone(405)),
    "surveys:languages": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:translation": Row(get=own(200), post=own(302), other=everyone(405)),
    "surveys:translation_remove": Row(get=own(200), post=own(302), other=everyone(405)),
    "surveys:translation_file": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:translation_file_download": Row(get=own(200), other=everyone(405)),
    "surveys:share": SHARED,
    "surveys:xlsform": replace(SHARED, survey="draft"),
    "surveys:redcap": replace(SHARED, survey="draft"),
    "surveys:share_qr_svg": SHARED,
    "surveys:share_qr_png": SHARED,
    "surveys:poster": SHARED,
    "surveys:launch": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:close": Row(get=own(200), post=own(302), other=everyone(405), survey="launched"),
    "surveys:copy": Row(get=everyone(405), post=own(302), other=everyone(405)),
    "surveys:delete": Row(get=own(200), post=own(302), other=everyone(405)),
    "surveys:public_results": Row(
        get=everyone(405), post=own(404), other=everyone(405), survey="launched"
    ),
    "aggregator:delete": Row(get=own(200), post=own(422), other=everyone(405), survey="closed"),
    "surveys:plan": Row(get=(200, 200, 302), other=everyone(405)),
    # the respondent's side: the same for everyone
    "surveys:respond": RESPOND,
    "surveys:respond_in": RESPOND,
    "surveys:check": RESPOND,
    "surveys:single_page": RESPOND,
    "aggregator:public_results": PUBLISHED,
    "aggregator:public_coin_results": PUBLISHED,
    # none of these surveys publishes releases
    "aggregator:public_results_csv": Row(get=everyone(404), other=everyone(405)),
    "aggregator:public_coin_results_csv": Row(get=everyone(404), other=everyone(405)),
    "aggregator:coins": Row(
        get=everyone(200), post=everyone(415), other=everyone(405), survey="launched"
    ),
    "aggregator:hand_in": Row(
        get=everyone(200), post=everyone(415), other=everyone(405), survey="launched"
    ),
    "aggregator:coins_sent": RESPOND,
    "aggregator:handed_in": RESPOND,
    "aggregator:paper": Row(get=everyone(200), other=everyone(405), survey="launched"),
    "surveys:manifest": Row(get=everyone(200), other=everyone(405), survey="launched"),
    # a language that the survey does not have
    "surveys:words": Row(get=everyone(404), other=everyone(405), survey="launched"),
    "surveys:elsewhere": Row(get=everyone(302), other=everyone(405)),
    "surveys:client_file": Row(get=everyone(200), other=everyone(405)),
    "aggregator:intake": Row(get=everyone(405), post=everyone(415), other=everyone(405)),
    # results are for members only
    "aggregator:home": PUBLIC,
    "aggregator:problems": PUBLIC,
    "aggregator:problem": Row(get=everyone(302), other=everyone(405)),
    "aggregator:api_guide": PUBLIC,
    "aggregator:data": RESULTS,
    "aggregator:history": replace(RESULTS, survey="draft"),
    "aggregator:history_csv": RESULTS,
    # the survey has not closed
    "aggregator:background": Row(get=own(409), post=own(409), other=own(405), survey="launched"),
    "aggregator:break_it": Row(get=own(403), other=own(405), survey="launched"),  # invented only
    "aggregator:results": RESULTS,
    "aggregator:results_panel": RESULTS,
    "aggregator:reports_csv": ROWS,
    "aggregator:codebook_csv": RESULTS,
    "aggregator:estimates_csv": RESULTS,
    "aggregator:coin_results": RESULTS,
    "aggregator:coin_results_panel": RESULTS,
    "aggregator:coin_estimates_csv": RESULTS,
    "aggregator:choose_chart": replace(RESULTS, get=own(404)),  # without a choice
    "aggregator:file": FILES,
    "aggregator:coin_file": FILES,
    "aggregator:mode_comparison": RESULTS,
    "aggregator:mode_comparison_csv": RESULTS,
    # an empty form: nobody counted the people invited
    "aggregator:report": Row(get=own(200), post=own(302), other=own(405), survey="launched"),
    "aggregator:compare": Row(get=own(200), post=own(422), other=own(405), survey="launched"),
    "aggregator:breakdowns": RESULTS,
    # the survey has no declared question
    "aggregator:breakdown": Row(get=own(404), post=own(404), other=own(405), survey="launched"),
    "aggregator:breakdown_csv": replace(RESULTS, get=own(404)),
    # the survey publishes nothing, and says so
    "aggregator:releases": RESULTS,
    "aggregator:coin_releases": RESULTS,
    "aggregator:release_new": Row(get=own(200), post=own(422), other=own(405), survey="launched"),
    "aggregator:coin_release_new": Row(
        get=own(200), post=own(422), other=own(405), survey="launched"
    ),
    "aggregator:release_ledger": RESULTS,
    "aggregator:coin_release_ledger": RESULTS,
    "aggregator:release_ledger_csv": replace(RESULTS, get=own(404)),
    "aggregator:coin_release_ledger_csv": replace(RESULTS, get=own(404)),
    "aggregator:release": replace(RESULTS, get=own(404)),
    "aggregator:key_driver": Row(get=own(200), post=own(422), other=own(405), survey="launched"),
    # the survey keeps nothing sealed
    "aggregator:sealed_half": Row(get=own(404), post=own(404), other=own(405), survey="launched"),
    "aggregator:comparison": RESULTS,
    "aggregator:comparison_panel": Row(get=own(286), other=own(405), survey="launched"),
    "aggregator:comparison_csv": RESULTS,
    "aggregator:methods": PUBLIC,
    "aggregator:methods_chapter": PUBLIC,
    "aggregator:methods_figure": PUBLIC,
    "aggregator:methods_paragraph": PUBLIC,
    # for machines: the same for everyone
    "aggregator:security_txt": Row(get=everyone(404), other=everyone(405)),  # no contact is set
    "aggregator:healthz": PUBLIC,
    "aggregator:readyz": PUBLIC,
    # the API
    "aggregator:api_schema": PUBLIC,
    "aggregator:api_surveys": Row(get=(200, 200, 403), post=(422, 422, 403), other=(405, 405, 403)),
    # a PUT says which version it replaces
    "aggregator:api_definition": Row(
        get=(200, 404, 403), put=(428, 404, 403), other=(405, 405, 403)
    ),
    "aggregator:api_definition_validate": Row(
        get=(405, 405, 403), post=(422, 422, 403), other=(405, 405, 403)
    ),
    "aggregator:api_survey": API,
    "aggregator:api_results": API,
    "aggregator:api_reports_csv": replace(API, get=(409, 404, 403)),
    "aggregator:api_codebook_csv": API,
    "aggregator:api_estimates_csv": API,
}


@pytest.fixture
def surveys() -> dict[str, Survey]:
    """Make a person's draft, open survey with results, and closed survey; colleagues share all."""
    owner = make_person("owner")
    survey = make_survey(
        owner=owner, title=CANARY, questions=[f"{CANARY} {word}?" for word in ("Red", "Blue")],
        coins=True,
    )  # fmt: skip
    add_question(survey=survey, text=f"{CANARY} Green?", flips=25)
    wave = open_survey(survey=survey)
    for each in Wave.objects.all():
        send_many(each, [bytes([i % 2, i % 3 == 0, 1]) for i in range(40)])
        seal_next_batch(wave_id=each.pk)
        update_snapshot(wave_id=each.pk)
    comparison = request_comparison(
        wave=wave, snapshot=wave.snapshots.get(), kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    run_comparison(comparison_id=comparison.pk)
    assert Comparison.objects.get().state == Comparison.State.DONE
    draft = copy_survey(survey=wave.survey)
    draft.translations.create(language="fr", texts={draft.title: CANARY})
    Import.objects.create(owner=owner, name=f"{CANARY}.csv", state=Import.State.FAILED)
    closed = open_survey(survey=copy_survey(survey=wave.survey))
    close_wave(wave_id=closed.pk, ending=Wave.Ending.OWNER)
    found = {"draft": draft, "launched": wave.survey, "closed": closed.survey}
    team = create_team(name=CANARY, account=owner.pk)
    invite(address=f"{CANARY}.team@example.org", role=Role.OWNER, by=owner.pk, team=team)
    for name, role in MEMBERS.items():
        if role != Role.OWNER:
            account = make_person(name)
            team.members.create(account=account, role=role)
            for each_survey in found.values():
                each_survey.memberships.create(account=account, role=role)
    for each_survey in found.values():
        invite(
            address=f"{CANARY}.survey@example.org", role=Role.OWNER, by=owner.pk, survey=each_survey
        )
    return found


def make_person(name: str) -> User:
    """Make one of the people; only the owner and colleagues have the canary in their address."""
    known = f"{CANARY}." if name in MEMBERS else ""
    address = f"{known}{name.replace(' ', '').replace(chr(39), '')}@example.org".lower()
    found = User.objects.filter(email=address).first()
    if found is None:
        found = make_user(address)
        found.is_superuser = name == "operator"
        found.save()
        if name == "another's owner":
            make_launched_survey(owner=found)
            create_team(name="Others", account=found.pk)
    return found


def make_client(name: str) -> Client:
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    if name != "visitor":
        client.force_login(make_person(name), backend=BACKEND)
    return client


def address(route: Route, survey: Survey) -> str:
    wave, question = survey.find_wave(), survey.questions.first()
    values = {
        "slug": survey.slug,
        "pk": question.pk if question else 0,
        "digest": wave.manifest_hash_hex if wave else "",
        "version": client_files.client_version(),
        "name": "randomize.js",
        "question": "q1",
        "code": "fr",
        "page": "text",
        "language": "en",
        "kind": "table",
        "uidb36": "1",
        "key": "no-such-key",
        "token": "no-such-link",
        "member": 0,
        "invitation": 0,
    }
    if route.name.startswith("surveys:team"):
        team = Team.objects.get(name=CANARY)
        values["pk"] = team.pk
        values["member"] = team.members.get(role=Role.OWNER).pk
        values["invitation"] = team.invitations.get().pk
    if route.name == "surveys:person":
        values["pk"] = survey.memberships.get(role=Role.OWNER).pk
    if route.name == "surveys:invitation_withdraw":
        values["pk"] = survey.invitations.get().pk
    if route.name.startswith("aggregator:comparison"):
        comparison = Comparison.objects.filter(wave__survey=survey).first()
        values["pk"] = comparison.pk if comparison else 0
    if route.name == "aggregator:methods_figure":
        values["name"] = "coverage.svg"
    if route.name == "aggregator:methods_chapter":
        values["name"] = "intervals"
    if route.name == "aggregator:methods_paragraph":
        values["anchor"] = "standard-error"
    if route.name in ("aggregator:file", "aggregator:coin_file"):
        values["name"] = "chart.180mm.svg"
    if route.name in ("surveys:imported", "surveys:imported_panel"):
        values["slug"] = Import.objects.get().slug
    if route.name == "surveys:template":
        values["name"] = "pay"
    if route.name == "aggregator:problem":
        values["slug"] = "wave-closed"
    return reverse(route.name, kwargs={name: values[name] for name in route.parameters})


def test_every_route_is_listed_and_every_listed_one_exists() -> None:
    assert {route.name for route in all_routes()} == set(TABLE)


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    "person",
    [one if one not in SELDOM else pytest.param(one, marks=pytest.mark.long) for one in CAST],
)
def test_the_permission_matrix_holds(person: str, surveys: dict[str, Survey]) -> None:
    # Making the surveys takes longer than all requests, so the routes share the surveys.
    make_person(person)
    before = transaction.savepoint()
    wrong = []
    for route in all_routes():
        wrong += _list_wrong(route, person, surveys)
        transaction.savepoint_rollback(before)
    assert wrong == []


def _list_wrong(route: Route, person: str, surveys: dict[str, Survey]) -> list[tuple[object, ...]]:
    row = TABLE[route.name]
    client, path = make_client(person), address(route, surveys[row.survey])
    wrong: list[tuple[object, ...]] = []
    for method in METHODS:
        response = client.generic(method, path)
        expected = row.find_status(route.name, method, person)
        signs_in = person == "visitor" and row.expected(method) in (own(200), own(302), own(422))
        if response.status_code != expected:
            wrong.append((route.name, method, response.status_code, expected))
        elif signs_in and not response["Location"].startswith("/accounts/login/?next="):
            wrong.append((route.name, method, response["Location"]))
        if _is_foreign(route, person) and CANARY.lower() in response.content.decode().lower():
            wrong.append((route.name, method, CANARY))
    return wrong


# The scope that a token needs. API addresses that are not listed are for everyone.
SCOPES: dict[str, Scope] = {
    **dict.fromkeys(("api_surveys", "api_survey", "api_results"), Scope.RESULTS),
    **dict.fromkeys(("api_reports_csv", "api_codebook_csv", "api_estimates_csv"), Scope.FILES),
    **dict.fromkeys(("api_definition_validate", "api_definition"), Scope.DRAFTS),
}


# The owner of each token, and the role whose permissions the token has. A role may come through a
# team, or may have ended.
WITH_TOKENS = {name: name for name in (*MEMBERS, *STRANGERS)} | {
    "colleague in a team": "editor",
    "former editor": "stranger",
}


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_tokens_reach_what_their_scope_and_the_role_say_and_no_page(
    surveys: dict[str, Survey],
) -> None:
    tokens = {
        (person, scope): make_token(user=make_person(person), name=scope, scopes=[scope], days=1)[1]
        for person in WITH_TOKENS
        for scope in Scope
    }
    team = create_team(name="Colleagues", account=make_person("owner").pk)
    team.members.create(account=make_person("colleague in a team"), role=Role.EDITOR)
    former = make_person("former editor")
    for survey in surveys.values():
        TeamSurvey.objects.create(team=team, survey=survey)
        survey.memberships.create(account=former, role=Role.EDITOR)
        remove(survey=survey, account=former.pk, by=former.pk)
    before = transaction.savepoint()
    wrong = []
    for (person, scope), text in tokens.items():
        wrong += _list_wrong_by_token(person, [scope], text, surveys)
        transaction.savepoint_rollback(before)
    _, text = make_token(user=make_person("owner"), name="", scopes=[*Scope], days=1)
    wrong += _list_wrong_by_token("visitor", [*Scope], text, surveys, in_api=False)
    assert wrong == []


def _list_wrong_by_token(
    person: str, scopes: list[Scope], text: str, surveys: dict[str, Survey], *, in_api: bool = True
) -> list[tuple[object, ...]]:
    wrong: list[tuple[object, ...]] = []
    client = make_client("visitor")
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {text}"
    known = WITH_TOKENS.get(person, person)
    methods = METHODS if person == "owner" else ("GET", "PUT", "POST")  # other methods do nothing
    for route in all_routes():
        name, row = route.name.removeprefix("aggregator:"), TABLE[route.name]
        if (name in SCOPES) != in_api or row.get == everyone(200):
            continue
        cache.clear()  # resets the throttles
        path = address(route, surveys[row.survey])
        for method in methods if in_api else ("GET",):
            creates = name == "api_surveys" and method == "POST"
            needed = Scope.DRAFTS if creates else SCOPES.get(name)
            status = row.find_status(route.name, method, known)
            if in_api and needed not in scopes:
                status = 403
            response = client.generic(method, path, content_type="application/json")
            if response.status_code != status:
                wrong.append((person, scopes, route.name, method, response.status_code, status))
            hidden = _is_foreign(route, known) or (in_api and status >= 400)
            if hidden and CANARY.lower() in response.getvalue().decode().lower():
                wrong.append((person, scopes, route.name, method, CANARY))
    return wrong


def _is_foreign(route: Route, person: str) -> bool:
    """Return whether nothing of the owner may be shown; respondents' pages are for everyone."""
    is_public = TABLE[route.name].get in (everyone(200), everyone(404))
    return person not in MEMBERS and not (is_public and route.parameters)


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize("person", ["viewer", "analyst", "editor"])
def test_pages_link_only_to_what_their_reader_may_open(
    person: str, surveys: dict[str, Survey]
) -> None:
    client = make_client(person)
    dead = set()
    for route in all_routes():
        row = TABLE[route.name]
        if row.get[1] != 404 or "slug" not in route.parameters:
            continue
        for state, survey in surveys.items():
            page = client.get(address(route, survey))
            is_page = page.status_code == 200 and not page.streaming
            if is_page and page["Content-Type"].startswith("text/html"):
                found = _find_dead_links(page.text, person)
                dead |= {(route.name, state, *one) for one in found}
    assert dead == set()


def _find_dead_links(page: str, person: str) -> Iterator[tuple[str, ...]]:
    links = re.findall(r'<a\b[^>]*?href="(/surveys/[^"#?]+)', page)
    forms = re.findall(r'<form\b[^>]*?method="post"[^>]*?action="(/surveys/[^"#?]+)', page)
    for method, found in (("GET", links), ("POST", forms)):
        for path in set(found):
            name = resolve(path).view_name
            if TABLE[name].find_status(name, method, person) == 403:
                yield (method, path.split("/", 3)[-1])


@pytest.mark.django_db
def test_attempts_of_others_changed_nothing(surveys: dict[str, Survey]) -> None:
    people = ("stranger", "visitor", "viewer")
    for person in people:
        make_person(person)
    before = _describe(surveys)
    for person in people:
        client = make_client(person)
        for route in all_routes():
            for state, survey in surveys.items():
                if (
                    route.name.startswith(OWNED)
                    and route.name not in OF_ONESELF
                    and (survey.find_wave() or "digest" not in route.parameters)
                ):
                    path = address(route, survey)
                    # No view changes anything in response to these three methods, so one state is
                    # enough.
                    others = ("PUT", "PATCH", "DELETE") if state == "launched" else ()
                    for method in (*others, "POST"):
                        client.generic(method, path)
                    if PEOPLE.search(path):
                        for sent in ESCALATING:
                            client.post(path, sent)
    assert _describe(surveys) == before


# These routes give up the account's own role, or create a survey for the account.
OF_ONESELF = ("surveys:leave", "surveys:create")
PEOPLE = re.compile("people|teams|hand-over|invitations")
ESCALATING: tuple[dict[str, object], ...] = (
    {"role": Role.OWNER.value, "address": "stranger@example.org"},
    {"role": "remove"},
    {"team": 1, "detach": 1, "account": 1},
)


def _describe(surveys: dict[str, Survey]) -> list[object]:
    pks = [survey.pk for survey in surveys.values()]
    found: list[object] = [list(Survey.objects.filter(pk__in=pks).order_by("pk").values())]
    for model in (Question, Translation, Wave, Membership, TeamSurvey, Invitation):
        found.append(list(model._base_manager.filter(survey__in=pks).order_by("pk").values()))
    for others in (Team, TeamMember, Invitation):
        found.append(list(others._base_manager.order_by("pk").values()))
    return found
