"""Authoring over HTTP: what the owner can do, and what strangers and visitors cannot do."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from surveys.lifecycle.services import close_wave
from surveys.models import MAX_QUESTIONS, Question, Survey, Wave
from tests.support.factories import (
    QUESTIONS,
    make_launched_survey,
    make_survey,
    make_user,
    open_survey,
)
from tests.support.fielding import at
from tests.support.reading import words_of

# The box that the author of these surveys must tick, because their K is 10.
SMALL = {"acknowledge_minimum_batch": "on"}
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HTML = '<script>alert(1)</script><img src=x onerror="alert(2)">'
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;alert(2)&quot;&gt;"


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner, introduction="We ask everybody.")


def first_question(survey: Survey) -> Question:
    return survey.questions.all()[0]


def texts(survey: Survey) -> list[str]:
    return [question.text for question in survey.questions.all()]


def settings_of(survey: Survey, **changes: object) -> dict[str, object]:
    """Return the fields that the settings form would send, with these changes."""
    return {
        "title": survey.title,
        "introduction": survey.introduction,
        "language": "en",
        "publication": survey.publication,
        "minimum_batch": survey.minimum_batch,
        "display_minimum": survey.display_minimum,
        "opens_at": "",
        "closes_at": "",
        "cap": "",
        **changes,
    }


def shown_hash(page: str) -> str:
    found = re.search(r'name="manifest" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found[1]


def test_a_survey_is_created_and_shown_as_a_draft(author: Client, owner: User) -> None:
    answer = author.post(
        reverse("surveys:create"), {"title": " On  the road ", "introduction": "Hello\r\nyou"}
    )
    survey = Survey.objects.get(memberships__account=owner)
    assert answer["Location"] == at("edit", survey)
    assert (survey.title, survey.introduction) == ("On  the road", "Hello\nyou")
    page = words_of(author.get(at("edit", survey)))
    assert "Draft" in page
    assert "The survey has no questions. Add at least one." in page


def test_questions_are_added_in_order_with_their_strength(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=())
    for text, flips in (("First?", "25"), ("Second?", "5")):
        answer = author.post(at("question_create", survey), {"text": text, "flips": flips})
        assert answer.status_code == 302
    assert [(q.position, q.text, q.flips) for q in survey.questions.all()] == [
        (1, "First?", 25),
        (2, "Second?", 5),
    ]
    questions = author.get(at("questions", survey)).text
    assert "ε = 1.10" in questions  # ln 3 = 1.0986, rounded up
    assert "ε = 2.95" in questions  # ln 19 = 2.9444
    assert "ε = 4.05" in questions
    page = author.get(at("edit", survey)).text
    assert "ε = 4.05" in page  # their sum, 4.0431, rounded up once
    # 19/20, and 57/58 = 98.3 of 100
    assert "With all codes about one answer, at most 95 in 100." in page
    assert "If all your answers are related, at most 99 in 100." in page


def test_strengths_stand_from_more_to_less_and_two_coins_are_chosen(
    author: Client, survey: Survey
) -> None:
    page = author.get(at("question_create", survey) + "?type=yes_no").text
    values = re.findall(r'type="radio" name="flips" value="(\d+)"', page)
    assert values == ["40", "33", "25", "20", "12", "5"]
    assert re.search(r'value="25"[^>]*checked', page)
    assert "Of every 100 people, 25 send the other answer’s code." in page
    assert page.count("Careful:") == 1  # only from 5 of 100 on
    guesses = re.findall(r"At most (\d+) of 100 guesses are right", page)
    assert guesses == ["60", "67", "75", "80", "88", "95"]


def test_a_question_is_edited_in_its_place(author: Client, survey: Survey) -> None:
    question = first_question(survey)
    form = author.get(at("question_edit", survey, question.pk)).text
    assert question.text in form
    author.post(at("question_edit", survey, question.pk), {"text": "Else?", "flips": "40"})
    assert texts(survey) == ["Else?", QUESTIONS[1]]
    assert first_question(survey).flips == 40


def test_a_strength_set_elsewhere_survives_an_edit(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, flips=17)
    question = first_question(survey)
    page = author.get(at("question_edit", survey, question.pk)).text
    assert re.search(r'value="17"[^>]*checked', page)
    author.post(at("question_edit", survey, question.pk), {"text": "Else?", "flips": "17"})
    assert first_question(survey).flips == 17


def test_questions_move_up_and_down(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=("A?", "B?", "C?"))
    a, _, c = survey.questions.all()
    author.post(at("question_move", survey, a.pk), {"direction": "down"})
    assert texts(survey) == ["B?", "A?", "C?"]
    author.post(at("question_move", survey, c.pk), {"direction": "up"})
    assert texts(survey) == ["B?", "C?", "A?"]
    author.post(at("question_move", survey, a.pk), {"direction": "down"})  # already last
    assert texts(survey) == ["B?", "C?", "A?"]


def test_a_move_without_a_direction_is_refused(author: Client, survey: Survey) -> None:
    question = first_question(survey)
    answer = author.post(at("question_move", survey, question.pk), {"direction": "left"})
    assert answer.status_code == 400
    assert texts(survey) == list(QUESTIONS)


def test_the_hundredth_question_is_the_last(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=[f"Number {n}?" for n in range(MAX_QUESTIONS - 1)])
    assert (
        author.post(at("question_create", survey), {"text": "A?", "flips": 25}).status_code == 302
    )
    refused = author.post(at("question_create", survey), {"text": "One more?", "flips": 25})
    assert refused.status_code == 422
    assert "100 questions at most. Delete one first." in refused.text
    assert "One more?" in refused.text
    assert survey.questions.count() == MAX_QUESTIONS


def test_a_high_total_shows_a_warning(author: Client, owner: User) -> None:
    few = make_survey(owner=owner, questions=[f"A {n}?" for n in range(5)])
    many = make_survey(owner=owner, questions=[f"A {n}?" for n in range(6)])
    assert "you must acknowledge" not in author.get(at("edit", few)).text
    page = author.get(at("edit", many)).text
    assert "ε = 6.60 (recommended: up to 5.5; limit: 20)." in page
    assert "Above 100\N{NO-BREAK SPACE}%, you must acknowledge the risk." in page


def test_settings_are_saved(author: Client, survey: Survey) -> None:
    closes = (timezone.now() + timedelta(days=30)).replace(second=0, microsecond=0)
    settings = settings_of(
        survey,
        title="Renamed",
        minimum_batch=20,
        display_minimum=200,
        closes_at=closes.strftime("%Y-%m-%dT%H:%M"),
        cap=2000,
        people_expected=1500,
    )
    form = ""
    for page in ("text", "special", "time"):
        answer = author.post(at("settings_page", survey, page), settings, follow=True)
        assert "The settings were saved." in answer.text
        form += answer.text
    survey.refresh_from_db()
    assert (survey.title, survey.minimum_batch, survey.display_minimum) == ("Renamed", 20, 200)
    assert (survey.closes_at, survey.cap, survey.opens_at) == (closes, 2000, None)
    assert survey.people_expected == 1500
    assert "The first batch is therefore sealed once 2 × K reports have arrived." in form
    assert f'value="{closes:%Y-%m-%dT%H:%M}"' in form
    assert "K counts reports, not honest people" in form


def test_a_draft_is_deleted_after_asking(author: Client, survey: Survey) -> None:
    assert "Delete this draft?" in author.get(at("delete", survey)).text
    answer = author.post(at("delete", survey))
    assert answer["Location"] == reverse("aggregator:home")
    assert not Survey.objects.exists()


def test_a_copy_is_a_new_draft(author: Client, owner: User) -> None:
    wave = make_launched_survey(owner=owner)
    answer = author.post(at("copy", wave.survey))
    copied = Survey.objects.exclude(pk=wave.survey.pk).get()
    assert answer["Location"] == at("edit", copied)
    assert copied.is_draft()
    assert texts(copied) == list(QUESTIONS)
    assert copied.title == "Copy of On the road"


def test_opening_shows_what_will_be_frozen_and_then_freezes_it(
    author: Client, survey: Survey
) -> None:
    page = author.get(at("launch", survey)).text
    for text in (*QUESTIONS, survey.title, survey.introduction, "ε = 2.20"):
        assert text in page
    answer = author.post(at("launch", survey), {"manifest": shown_hash(page), **SMALL}, follow=True)
    wave = Wave.objects.get(survey=survey)
    assert wave.is_open
    assert wave.manifest_hash_hex == shown_hash(page)
    assert f"{settings.PUBLIC_URL}/s/{survey.slug}" in answer.text
    frozen = author.get(at("settings", survey)).text
    assert f"/m/{wave.manifest_hash_hex}.json" in frozen
    assert survey.introduction in frozen
    assert reverse("aggregator:results", args=[survey.slug]) in answer.text
    assert 'tag-open">Open' in answer.text


def test_a_survey_without_questions_cannot_be_opened(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=())
    assert "has no questions" in author.get(at("launch", survey)).text
    assert "Open the survey</button>" not in author.get(at("launch", survey)).text
    refused = author.post(at("launch", survey), {"manifest": "0" * 64})
    assert refused.status_code == 422
    assert "The survey has no questions. Add at least one." in words_of(refused)
    assert not Wave.objects.exists()


def test_a_survey_that_changed_after_it_was_shown_is_not_opened(
    author: Client, survey: Survey
) -> None:
    seen = shown_hash(author.get(at("launch", survey)).text)
    author.post(at("question_create", survey), {"text": "From another tab?", "flips": 5})
    refused = author.post(at("launch", survey), {"manifest": seen, **SMALL})
    assert refused.status_code == 422
    assert "changed after this page was shown" in refused.text
    assert "From another tab?" in refused.text
    assert survey.is_draft()
    author.post(at("launch", survey), {"manifest": shown_hash(refused.text), **SMALL})
    assert not survey.is_draft()


def test_a_date_that_passed_while_drafting_is_named_before_opening(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, closes_at=timezone.now() - timedelta(minutes=1))
    assert "The closing date has passed." in author.get(at("edit", survey)).text
    assert "Open the survey</button>" not in author.get(at("launch", survey)).text


def test_a_day_of_deletion_is_told_before_the_opening_and_checked_again(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, delete_on=date(2031, 3, 31))
    told = author.get(at("launch", survey)).text
    assert "On 31 March 2031, this survey will be deleted with everything that it collected" in told
    assert "nobody can change it after the opening" in told
    assert "Open the survey</button>" in told
    Survey.objects.update(delete_on=timezone.now().date() + timedelta(days=6))
    assert "at least 7 days after today" in author.get(at("edit", survey)).text
    assert "Open the survey</button>" not in author.get(at("launch", survey)).text


def test_closing_early_says_what_it_costs(author: Client, owner: User) -> None:
    survey = make_launched_survey(owner=owner, cap=500).survey
    page = author.get(at("close", survey)).text
    assert "500 people" in page
    assert "If you close it earlier, after results were shown, the results keep the wider" in page
    answer = author.post(at("close", survey), follow=True)
    wave = survey.find_wave()
    assert wave is not None
    assert (wave.state, wave.ending) == (Wave.State.CLOSED, Wave.Ending.OWNER)
    assert "because you closed it" in answer.text
    assert f"/s/{survey.slug}" not in answer.text


def test_closing_without_a_fixed_end_costs_nothing(author: Client, owner: User) -> None:
    survey = make_launched_survey(owner=owner).survey
    assert "so you may close the survey now" in author.get(at("close", survey)).text


def test_a_survey_that_is_not_open_cannot_be_closed(
    author: Client, owner: User, survey: Survey
) -> None:
    over = make_launched_survey(owner=owner)
    close_wave(wave_id=over.pk, ending=Wave.Ending.OWNER)
    for closed in (survey, over.survey):
        for answer in (author.get(at("close", closed)), author.post(at("close", closed))):
            assert answer.status_code == 409
            assert "This survey is not open" in answer.text


@pytest.mark.parametrize(
    ("name", "posted"),
    [
        ("settings", {"title": "What I typed", "introduction": "Also this"}),
        ("question_create", {"text": "What I typed", "flips": "25"}),
        ("question_edit", {"text": "What I typed", "flips": "25"}),
        ("question_move", {"direction": "down"}),
        ("questions_selected", {"action": "delete"}),
        ("questions_restore", {}),
        ("launch", {}),
        ("delete", {}),
    ],
)
def test_after_opening_every_change_is_refused_and_nothing_typed_is_lost(
    author: Client, owner: User, name: str, posted: dict[str, str]
) -> None:
    survey = make_launched_survey(owner=owner).survey
    has_one = name.startswith("question_") and name != "question_create"
    more = [first_question(survey).pk] if has_one else []
    answer = author.post(at(name, survey, *more), posted)
    assert answer.status_code == 409
    assert "can no longer be changed" in answer.text
    for text in posted.values():
        if "typed" in text or "this" in text:
            assert text in answer.text
    assert (texts(survey), survey.waves.count()) == (list(QUESTIONS), 1)


def test_the_page_of_an_opened_survey_offers_no_editing(author: Client, owner: User) -> None:
    survey = make_launched_survey(owner=owner).survey
    page = author.get(at("edit", survey)).text
    page += author.get(at("questions", survey)).text + author.get(at("settings", survey)).text
    for name in ("question_create", "launch", "delete"):
        assert f'"{at(name, survey)}"' not in page


def test_a_survey_that_opens_later_says_when(author: Client, owner: User) -> None:
    opens = timezone.now() + timedelta(days=2)
    survey = make_launched_survey(owner=owner, opens_at=opens).survey
    page = author.get(at("edit", survey)).text
    assert "Opens later" in page
    assert f"{opens.day} {opens:%B %Y, %H:%M} UTC" in page


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Wave.Ending.DATE, "because it reached its closing date"),
        (Wave.Ending.CAP, "because 500 people had answered"),
        (Wave.Ending.OWNER, "because you closed it"),
    ],
)
def test_a_closed_survey_says_how_it_ended(
    author: Client, owner: User, ending: Wave.Ending, words: str
) -> None:
    wave = make_launched_survey(owner=owner, cap=500)
    close_wave(wave_id=wave.pk, ending=ending)
    assert words in author.get(at("edit", wave.survey)).text


@pytest.mark.parametrize(
    ("posted", "message"),
    [
        ({"text": "", "flips": "25"}, "Enter the question."),
        ({"text": " \n\t ", "flips": "25"}, "Enter the question."),
        ({"text": "long " * 1000, "flips": "25"}, "Shorten it to 1000 or fewer."),
        ({"text": "A\x00B?", "flips": "25"}, "invisible control character"),
        ({"text": "Fine?", "flips": "50"}, "Choose one of the strengths in the list."),
        ({"text": "Fine?"}, "Choose how strongly the answers are protected."),
        ({}, "Enter the question."),
    ],
)
def test_an_invalid_question_is_explained_and_kept(
    author: Client, survey: Survey, posted: dict[str, str], message: str
) -> None:
    question = first_question(survey)
    for path in (at("question_create", survey), at("question_edit", survey, question.pk)):
        answer = author.post(path, posted)
        assert answer.status_code == 422
        assert "<title>Error: " in answer.text
        field = "id_text" if "text" not in posted or posted.get("flips") == "25" else "id_flips_0"
        assert re.search(rf'<a href="#{field}">[^<]*{re.escape(message)}', answer.text)
        assert answer.text.count(message) == 2  # in the summary, and at the field
        assert posted.get("text", "").strip()[:3] in answer.text
    assert texts(survey) == list(QUESTIONS)


def test_invalid_settings_are_explained_and_kept(author: Client, survey: Survey) -> None:
    settings = settings_of(
        survey, title="", minimum_batch=9, closes_at="2020-01-01T00:00", cap="no"
    )
    for page, fields in (("text", ["title"]), ("special", ["minimum_batch"])):
        answer = author.post(at("settings_page", survey, page), settings)
        assert answer.status_code == 422
        assert all(f'<a href="#id_{field}">' in answer.text for field in fields)
    answer = author.post(at("settings_page", survey, "time"), settings)
    for field in ("closes_at", "cap"):
        assert f'<a href="#id_{field}">' in answer.text
        assert f'id="id_{field}_error"' in answer.text
    assert 'value="2020-01-01T00:00"' in answer.text
    survey.refresh_from_db()
    assert (survey.title, survey.minimum_batch, survey.cap) == ("On the road", 10, None)


def test_a_survey_without_a_title_is_not_created(author: Client) -> None:
    answer = author.post(reverse("surveys:create"), {"title": " ", "introduction": "Kept text"})
    assert answer.status_code == 422
    assert '<a href="#id_title">Enter a title.</a>' in answer.text
    assert "Kept text" in answer.text
    assert not Survey.objects.exists()


def test_html_is_shown_as_text_everywhere(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, title=HTML, introduction=HTML, questions=(HTML,))
    question = first_question(survey)
    paths = [
        at("edit", survey),
        at("questions", survey),
        at("settings", survey),
        at("launch", survey),
        at("delete", survey),
        at("question_edit", survey, question.pk),
    ]
    before = [author.get(path).text for path in paths]
    author.post(at("launch", survey), {"manifest": shown_hash(before[3]), **SMALL})
    after = [
        author.get(at(name, survey)).text for name in ("edit", "questions", "close", "settings")
    ]
    for page in (*before, *after):
        assert ESCAPED in page
    for page in (*before, *after):
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_every_page_has_one_heading_in_order(author: Client, owner: User, survey: Survey) -> None:
    launched = make_launched_survey(owner=owner, introduction="Hello").survey
    names = ("edit", "questions", "settings", "question_create", "launch")
    paths = [at(name, survey) for name in names]
    paths += [at(name, launched) for name in ("edit", "questions", "close", "settings")]
    for path in (*paths, reverse("surveys:create"), at("delete", survey)):
        levels = [int(level) for level in re.findall(r"<h([1-6])", author.get(path).text)]
        assert levels.count(1) == 1, path
        in_order = [level for level in levels if level > 1]
        assert all(after - before <= 1 for before, after in pairwise([1, *in_order])), path


PAGES = ("edit", "questions", "settings", "question_create", "launch", "close", "delete")
FORMS = (
    *("settings", "question_create", "questions_selected", "questions_restore"),
    *("launch", "close", "copy", "delete"),
)
QUESTION_FORMS = ("question_edit", "question_move")


def all_requests(client: Client, survey: Survey) -> dict[str, int]:
    """Return the status of every page and every form of a survey, keyed by name."""
    pk = first_question(survey).pk
    got = {f"GET {name}": client.get(at(name, survey)).status_code for name in PAGES}
    got |= {f"POST {name}": client.post(at(name, survey)).status_code for name in FORMS}
    for name in QUESTION_FORMS:
        answer = client.post(at(name, survey, pk), {"direction": "down"})
        got[f"POST {name}"] = answer.status_code
    return got


def test_for_a_stranger_the_survey_does_not_exist(client: Client, survey: Survey) -> None:
    client.force_login(make_user("stranger@example.org"))
    assert set(all_requests(client, survey).values()) == {404}
    assert texts(survey) == list(QUESTIONS)


def test_a_visitor_is_asked_to_sign_in(client: Client, survey: Survey) -> None:
    assert set(all_requests(client, survey).values()) == {302}
    assert client.get(reverse("surveys:create"))["Location"].startswith("/accounts/login/")
    assert texts(survey) == list(QUESTIONS)
    assert Survey.objects.count() == 1


@pytest.mark.parametrize("name", QUESTION_FORMS)
def test_a_question_is_found_only_under_its_own_survey(
    author: Client, owner: User, survey: Survey, name: str
) -> None:
    other = make_survey(owner=owner)
    foreign = make_survey()
    for elsewhere in (other, foreign):
        pk = first_question(elsewhere).pk
        answer = author.post(at(name, survey, pk), {"direction": "down", "text": "x", "flips": 5})
        # The form of a deleted question returns the typed text.
        assert answer.status_code == (409 if name == "question_edit" else 404)
        assert texts(elsewhere) == list(QUESTIONS)


def test_forms_require_their_token(owner: User, survey: Survey) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    answer = client.post(at("delete", survey))
    assert answer.status_code == 403
    assert "This form has expired" in answer.text
    assert Survey.objects.exists()


def test_the_preview_leads_back_to_what_it_shows(author: Client, survey: Survey) -> None:
    back = f'href="{at("edit", survey)}" lang="en">Back to the '
    page = author.get(at("preview", survey)).content.decode()
    assert f"{back}draft</a>" in page
    open_survey(survey=survey)
    assert f"{back}survey</a>" in author.get(at("preview", survey)).content.decode()
    assert "Back to the" not in author.get(at("respond", survey)).content.decode()


def test_the_preview_leads_to_the_other_languages(author: Client, survey: Survey) -> None:
    assert "?lang=" not in author.get(at("preview", survey)).text
    survey.translations.create(language="fr", texts={})
    assert 'href="?lang=fr" lang="fr">Français</a>' in author.get(at("preview", survey)).text
    page = author.get(f"{at('preview', survey)}?lang=fr").text
    assert 'href="?lang=en" lang="en">English</a>' in page


def test_a_preview_without_questions_leads_back_too(author: Client, owner: User) -> None:
    empty = make_survey(owner=owner, questions=[])
    assert f'href="{at("edit", empty)}"' in author.get(at("preview", empty)).content.decode()


def test_too_large_a_total_says_in_one_line_what_to_do(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=[f"Question {n}?" for n in range(19)])
    page = words_of(author.get(at("launch", survey)))
    assert (
        "the most that respondents’ browsers accept. Ask each person 18 of 19 questions, or use at "
        "least 26 flips of 100 for every question."
    ) in page
