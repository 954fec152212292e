"""Permissions: every route × method × owner, stranger and visitor.

The routes come from the URLconf. One that is not listed here fails the suite, so a new page
cannot be forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.models import Comparison
from aggregator.results.snapshots import update_snapshot
from surveys.authoring.services import copy_survey
from surveys.lifecycle.services import close_wave
from surveys.models import Import, Question, Survey, Translation, Wave
from surveys.respondent import client_files
from tests.support.factories import open_survey
from tests.support.routes import Route, all_routes
from tests.support.waves import make_wave, send_many

# POST comes last because it may change what the other methods read.
METHODS = ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "POST")
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
OWNED = ("surveys:", "aggregator:")
Statuses = tuple[int, int, int]  # owner, stranger, visitor
TO_SIGN_IN = 302
CAST = ("owner", "stranger", "visitor")


@dataclass(frozen=True, kw_only=True)
class Row:
    """Statuses for the three people; `other` applies to every method without its own field."""

    get: Statuses
    post: Statuses | None = None
    other: Statuses
    survey: str = "draft"

    def expected(self, method: str) -> Statuses:
        if method in ("GET", "HEAD"):
            return self.get
        if method == "POST" and self.post is not None:
            return self.post
        return self.other


def everyone(status: int) -> Statuses:
    return (status, status, status)


def own(status: int) -> Statuses:
    """Only the owner has access: strangers find nothing, and visitors are sent to sign in."""
    return (status, 404, TO_SIGN_IN)


PUBLIC = Row(get=everyone(200), other=everyone(405))
RESULTS = Row(get=own(200), other=own(405), survey="launched")
FILES = replace(RESULTS, get=own(202))  # a worker makes them
ROWS = replace(RESULTS, get=own(409))  # they exist once the survey has closed
PUBLISHED = replace(PUBLIC, get=everyone(404), survey="launched")  # it publishes nothing
RESPOND = Row(get=everyone(200), other=everyone(405), survey="launched")
SHARED = Row(get=own(200), other=everyone(405), survey="launched")
API = Row(get=(200, 404, 403), other=(405, 405, 403), survey="launched")

TABLE: dict[str, Row] = {
    # accounts: the same for owner and stranger, who are both signed in
    "account": Row(get=(200, 200, 302), post=(302, 302, 302), other=everyone(405)),
    # the password is asked for first
    "account_address": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "account_address_keep": Row(get=everyone(405), post=everyone(302), other=everyone(405)),
    "account_address_confirm": Row(get=everyone(200), post=everyone(200), other=everyone(405)),
    "account_end_session": Row(get=everyone(405), post=everyone(302), other=everyone(405)),
    "account_leave": Row(get=everyone(302), post=everyone(302), other=everyone(405)),
    "account_left": PUBLIC,
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
    # authoring: the owner only
    "surveys:create": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    "surveys:import": Row(get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)),
    # an import that was read
    "surveys:imported": Row(get=own(200), post=own(302), other=everyone(405)),
    "surveys:imported_panel": Row(get=own(200), other=everyone(405)),
    "surveys:definition_import": Row(
        get=(200, 200, 302), post=(422, 422, 302), other=everyone(405)
    ),
    "surveys:definition": Row(get=own(200), other=everyone(405)),
    "surveys:definition_compare": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:definition_schema": PUBLIC,
    "surveys:edit": Row(get=own(200), other=everyone(405)),
    "surveys:settings": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:settings_page": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:questions": Row(get=own(200), other=everyone(405)),
    "surveys:question_create": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:questions_paste": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:question_edit": Row(get=own(200), post=own(422), other=everyone(405)),
    "surveys:question_move": Row(get=everyone(405), post=own(400), other=everyone(405)),
    "surveys:question_delete": Row(get=own(200), post=own(302), other=everyone(405)),
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
    # results: the owner only
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
    "aggregator:api_surveys": Row(get=(200, 200, 403), other=(405, 405, 403)),
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
    """One person's draft, open survey with results, and closed survey."""
    wave = make_wave(minimum_batch=10, display_minimum=10, coins=True)
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
    draft.translations.create(language="fr", texts={draft.title: "Sur la route"})
    Import.objects.create(owner=draft.owner, name="a.csv", state=Import.State.FAILED)
    closed = open_survey(survey=copy_survey(survey=wave.survey))
    close_wave(wave_id=closed.pk, ending=Wave.Ending.OWNER)
    return {"draft": draft, "launched": wave.survey, "closed": closed.survey}


def make_client(role: str, owner: User) -> Client:
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    if role == "owner":
        client.force_login(owner, backend=BACKEND)
    if role == "stranger":
        stranger = User.objects.create_user(email="stranger@example.org", password="a stranger's")
        client.force_login(stranger, backend=BACKEND)
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
    }
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
    if route.name == "aggregator:problem":
        values["slug"] = "wave-closed"
    return reverse(route.name, kwargs={name: values[name] for name in route.parameters})


def test_every_route_is_listed_and_every_listed_one_exists() -> None:
    assert {route.name for route in all_routes()} == set(TABLE)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize("role", CAST)
def test_the_permission_matrix_holds(role: str, surveys: dict[str, Survey]) -> None:
    # Making the surveys takes longer than all requests, so the routes share them.
    before = transaction.savepoint()
    wrong = []
    for route in all_routes():
        wrong += _list_wrong(route, role, surveys)
        transaction.savepoint_rollback(before)
    assert wrong == []


def _list_wrong(route: Route, role: str, surveys: dict[str, Survey]) -> list[tuple[object, ...]]:
    row = TABLE[route.name]
    survey = surveys[row.survey]
    client, path = make_client(role, survey.owner), address(route, survey)
    wrong: list[tuple[object, ...]] = []
    for method in METHODS:
        response = client.generic(method, path)
        expected = row.expected(method)
        signs_in = role == "visitor" and expected in (own(200), own(302), own(422))
        if response.status_code != expected[CAST.index(role)]:
            wrong.append((route.name, method, response.status_code))
        elif signs_in and not response["Location"].startswith("/accounts/login/?next="):
            wrong.append((route.name, method, response["Location"]))
    return wrong


@pytest.mark.slow
@pytest.mark.django_db
def test_a_strangers_attempts_changed_nothing(surveys: dict[str, Survey]) -> None:
    owner = surveys["draft"].owner
    before = _describe(owner)
    for role in ("stranger", "visitor"):
        client = make_client(role, owner)
        for route in all_routes():
            for survey in surveys.values():
                if route.name.startswith(OWNED) and (
                    survey.find_wave() or "digest" not in route.parameters
                ):
                    for method in METHODS:
                        client.generic(method, address(route, survey))
    assert _describe(owner) == before


def _describe(owner: User) -> list[object]:
    return [
        list(Survey.objects.filter(memberships__account=owner).order_by("pk").values()),
        list(Question.objects.filter(survey__memberships__account=owner).order_by("pk").values()),
        list(
            Translation.objects.filter(survey__memberships__account=owner).order_by("pk").values()
        ),
        list(Wave.objects.filter(survey__memberships__account=owner).order_by("pk").values()),
    ]
