"""The page, the file and the command of a survey's history."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from aggregator.tasks import tend_history
from surveys.authoring.services import create_survey, delete_draft, edit_question, save_draft
from surveys.history.downloads import DOWNLOADS
from surveys.lifecycle.services import close_wave
from surveys.models import HistoryRow, Kind, Role, Survey, Verb, Wave
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import field, process, send_codes, sign_in
from tests.support.reading import words_of
from tests.support.routes import all_routes
from tests.support.waves import make_wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HOSTILE = "=cmd|'/c calc'!a0@example.org"
SCRIPT = "<script>alert(1)</script>\u202e"


def page_of(survey: Survey, name: str = "history") -> str:
    return reverse(f"aggregator:{name}", args=[survey.slug])


def read_csv(client: Client, survey: Survey, **query: str) -> list[dict[str, str]]:
    response = client.get(page_of(survey, "history_csv"), query)
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def survey() -> Survey:
    return create_survey(owner=make_user(), title="On the road")


def add_rows(survey: Survey, number: int, *, verb: Verb = Verb.CHANGED) -> None:
    last, account = HistoryRow.objects.filter(slug=survey.slug).count(), survey.owner.pk
    today = timezone.now().date()
    HistoryRow.objects.bulk_create(
        HistoryRow(
            slug=survey.slug,
            number=last + i,
            day=today,
            kept_until=today,
            account=account + i % 7,
            verb=verb,
            kind=Kind.SETTINGS,
        )
        for i in range(1, number + 1)
    )


def test_ten_thousand_rows_take_as_many_queries_as_one(survey: Survey) -> None:
    client = sign_in(survey.owner)
    counts = []
    for more in (30, 10_000):
        add_rows(survey, more)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(page_of(survey), {"page": "2"})
        counts.append(len(queries))
    assert (page.status_code, len(page.context["acts"])) == (200, 25)
    assert counts[0] == counts[1] <= 16
    assert "Page 2 of 402" in words_of(page)
    with CaptureQueriesContext(connection) as queries:
        assert len(read_csv(client, survey)) == 10_031
    assert len(queries) <= 2 * 10_001 // 500 + 20


def test_the_filter_keeps_its_choice_on_every_page(survey: Survey) -> None:
    client = sign_in(survey.owner)
    add_rows(survey, 30)
    page = client.get(page_of(survey), {"verb": "changed"})
    assert {act.row.verb for act in page.context["acts"]} == {"changed"}
    assert "?verb=changed&amp;page=2" in page.text
    assert len(read_csv(client, survey, verb="changed")) == 30
    for odd in ("'; DROP", "\0", "CHANGED"):
        assert len(client.get(page_of(survey), {"verb": odd}).context["acts"]) == 25
    empty = client.get(page_of(survey), {"verb": "expired"})
    assert "Nobody has done this." in words_of(empty)


def test_hostile_names_and_texts_stay_texts(survey: Survey) -> None:
    User.objects.filter(pk=survey.owner.pk).update(email=HOSTILE)
    survey.title = SCRIPT
    save_draft(survey=survey)
    add_rows(survey, 7)
    client = sign_in(User.objects.get(pk=survey.owner.pk))
    page = client.get(page_of(survey)).text
    assert "<script>alert" not in page
    assert ">=cmd|&#x27;/c calc&#x27;!a0@example.org</bdi>" in page
    [owned, gone, *_, changed, created] = read_csv(client, survey)
    assert owned["who"] == f"'{HOSTILE}"
    assert gone["who"] == f"account {gone['account']}, deleted"
    assert SCRIPT in changed["changes"]
    assert set(created) == {
        *("survey", "day", "number", "account", "who", "verb", "object", "changes")
    }
    assert created["day"] == timezone.now().date().isoformat()


def test_details_say_what_was_there_before_and_after() -> None:
    survey = make_survey(questions=["Did you?", "Would you?"])
    rule = {"name": str(survey.questions.all()[0].pk), "is": [1]}
    edit_question(question=survey.questions.all()[1], text="Could you?", rule=rule)
    page = sign_in(survey.owner).get(page_of(survey))
    assert page.context["acts"][0].shown == [
        ("question 2: text", "Would you?", "Could you?"),
        ("question 2: rule", "", "Q1 is yes"),
    ]
    assert "a command on the server" in words_of(page)


def test_a_form_that_changes_nothing_writes_nothing(survey: Survey) -> None:
    save_draft(survey=survey)
    assert HistoryRow.objects.count() == 1


def test_an_end_shows_the_next_day_on_its_day() -> None:
    survey = make_survey(cap=30)
    wave = open_survey(survey=survey)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    client = sign_in(survey.owner)
    tend_history()
    assert "reached its end today" in words_of(client.get(page_of(survey)))
    yesterday = timezone.now() - timedelta(days=1)
    Wave.objects.update(closed_at=yesterday)
    for _ in range(2):
        tend_history()
    page = client.get(page_of(survey))
    assert "reached its end today" not in words_of(page)
    [ended] = [act for act in page.context["acts"] if act.row.verb == Verb.ENDED]
    assert (ended.row.day, ended.who) == (yesterday.date(), "its end")


def test_after_the_deletion_only_the_command_prints_it(
    survey: Survey, capsys: pytest.CaptureFixture[str]
) -> None:
    client = sign_in(survey.owner)
    survey.title = "A secret title"
    save_draft(survey=survey)
    delete_draft(survey=survey)
    assert client.get(page_of(survey)).status_code == 404
    call_command("history", survey.slug)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["verb"] for row in rows] == ["deleted", "changed", "created"]
    assert {row["changes"] for row in rows} == {""}
    with pytest.raises(CommandError, match="no history of a survey nothere"):
        call_command("history", "nothere")


def test_results_are_seen_once_a_day_for_one_query_a_page() -> None:
    survey = field(make_wave(minimum_batch=10, display_minimum=10), yes=[9, 9, 9], total=40)
    client = sign_in(survey.owner)
    address = reverse("aggregator:results", args=[survey.slug])
    seen = HistoryRow.objects.filter(verb=Verb.SAW)
    client.head(address)
    assert not seen.exists()
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    about = [query["sql"] for query in queries if "surveys_history" in query["sql"]]
    assert len(about) == 1
    assert [(row.account, row.day) for row in seen] == [(survey.owner.pk, timezone.now().date())]


def test_a_page_without_figures_was_not_seeing_results() -> None:
    wave = make_wave(minimum_batch=10, display_minimum=10)
    send_codes(wave, yes=[3, 3, 3], total=15)
    process(wave)
    client = sign_in(wave.survey.owner)
    for name in ("results", "compare", "report", "breakdowns", "key_driver", "data"):
        client.get(reverse(f"aggregator:{name}", args=[wave.survey.slug]))
    assert not HistoryRow.objects.filter(verb=Verb.SAW).exists()


PAGES = ("results", "results_panel", "compare", "report", "background")


@pytest.mark.parametrize("name", PAGES)
def test_every_page_with_figures_counts_as_seeing_them(name: str) -> None:
    survey = field(make_wave(minimum_batch=10, display_minimum=10), yes=[9, 9, 9], total=40)
    sign_in(survey.owner).get(reverse(f"aggregator:{name}", args=[survey.slug]))
    assert HistoryRow.objects.filter(slug=survey.slug, verb=Verb.SAW).count() == 1


def test_a_refused_form_comes_back_with_figures_and_counts_too() -> None:
    survey = field(make_wave(minimum_batch=10, display_minimum=10), yes=[9, 9, 9], total=40)
    people = [survey.owner, make_user()]
    survey.memberships.create(account=people[1], role=Role.OWNER)
    for person, name in zip(people, ("report", "compare"), strict=True):
        reply = sign_in(person).post(page_of(survey, name), {"people_invited": "many"})
        assert reply.status_code == 422
    seen = HistoryRow.objects.filter(verb=Verb.SAW).order_by("number")
    assert [row.account for row in seen] == [person.pk for person in people]


def test_every_file_for_researchers_has_a_kind() -> None:
    files = {
        route.name
        for route in all_routes()
        if route.name.endswith(("_csv", ":file", ":coin_file", ":api_results"))
        and not route.name.startswith("aggregator:public_")
    }
    assert files == set(DOWNLOADS)


@pytest.mark.parametrize("route", ["api_results", "api_estimates_csv", "reports_csv"])
def test_what_leaves_the_server_is_written_with_its_address(route: str) -> None:
    survey = field(make_wave(minimum_batch=10, display_minimum=10), yes=[9, 9, 9], total=40)
    client = sign_in(survey.owner)
    address = reverse(f"aggregator:{route}", args=[survey.slug])
    assert client.head(address).status_code == 200
    assert client.get(address).status_code == 200
    page = client.get(page_of(survey), {"verb": "downloaded"})
    [act] = page.context["acts"]
    assert (act.row.kind, act.shown) == (
        DOWNLOADS[f"aggregator:{route}"],
        [("path", "", address)],
    )
