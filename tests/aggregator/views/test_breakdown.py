"""The pages of a breakdown: the menu, the wait, every question by groups, and refused choices."""

from __future__ import annotations

import re

import pytest

from aggregator.background.levels import Levels
from aggregator.background.rows_files import accept_proposal
from aggregator.comparisons.jobs import FEW_TOGETHER, GAVE_UP, run_comparison
from aggregator.models import Comparison, RowsFile
from aggregator.results.sentences import MAY_BE_ZERO
from aggregator.upkeep.deleting import delete_survey
from aggregator.views.breakdown import MOST_ROWS_ON_A_PAGE
from surveys.authoring.services import add_question
from surveys.leases import MAX_ATTEMPTS
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Survey, Wave
from tests.support.breakdowns.waves import (
    GROUPS,
    MINIMUM,
    break_down,
    field_people,
    finish,
    make_closed_wave,
    make_grouped_survey,
    send_rows,
)
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.reading import text_of, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def menu_of(survey: Survey) -> str:
    response = sign_in(survey.owner).get(f"/surveys/{survey.slug}/breakdown")
    assert response.status_code == 200
    return words_of(response)


def address_of(wave: Wave, name: str = "q1") -> str:
    return f"/surveys/{wave.survey.slug}/breakdown/{name}"


def test_a_draft_has_no_break_down() -> None:
    assert "This survey is a draft." in menu_of(make_grouped_survey())


def test_a_survey_without_a_declared_question_has_no_groups() -> None:
    wave = open_survey(survey=make_survey(questions=["Ill?"], display_minimum=10))
    assert "has no declared question" in menu_of(wave.survey)


def test_an_open_survey_is_not_broken_down_and_nothing_is_computed() -> None:
    wave = open_survey(survey=make_grouped_survey())
    assert "once the survey has closed" in menu_of(wave.survey)
    send_people(wave, people=200)
    process(wave)
    assert "once the survey has closed" in menu_of(wave.survey)
    response = sign_in(wave.survey.owner).get(address_of(wave))
    assert "once the survey has closed" in words_of(response)
    assert not Comparison.objects.exists()
    assert sign_in(wave.survey.owner).get(address_of(wave) + "/breakdown.csv").status_code == 404


def test_too_few_reports_have_no_break_down() -> None:
    wave = open_survey(survey=make_grouped_survey())
    field_people(wave, people=MINIMUM - 1)
    assert "Too few responses to show." in menu_of(wave.survey)
    assert not Comparison.objects.exists()


def test_the_menu_names_every_declared_question_with_its_groups() -> None:
    wave = make_closed_wave()
    words = menu_of(wave.survey)
    assert all(group in words for group in GROUPS)
    response = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/breakdown")
    assert address_of(wave) in response.content.decode()


def test_the_first_visit_asks_for_it_and_the_page_reloads_until_a_worker_has_made_it() -> None:
    wave = make_closed_wave()
    client = sign_in(wave.survey.owner)
    for _ in range(2):
        response = client.get(address_of(wave))
        assert response["Refresh"] == "2"
        assert "Being computed" in text_of(response)
    found = Comparison.objects.get()
    assert (found.kind, found.names) == ("breakdown", ["q1"])
    assert run_comparison(comparison_id=found.pk)
    response = client.get(address_of(wave))
    assert "Refresh" not in response
    assert Comparison.objects.count() == 1


def test_every_question_is_shown_by_every_group_with_sizes_once() -> None:
    wave = make_closed_wave(people=1200)
    result = break_down(wave)
    response = sign_in(wave.survey.owner).get(address_of(wave))
    page, words = response.content.decode(), words_of(response)
    for question in wave.description.questions[1:]:
        assert f'id="{question.name}"' in page
        assert question.text in words
    sizes = [group.n for group in result.groups]
    assert all(size for size in sizes)
    listed = re.findall(r"<dd>\s*([\d,]+)\s*</dd>", page.split('id="groups"')[1].split("</dl>")[0])
    assert [int(size.replace(",", "")) for size in listed] == sizes
    block = page.split('id="q4"')[1].split("</article>")[0]
    for option in ("Money", "Fear", "Duty"):
        assert option in block
    assert len(re.findall(r'class="block-row"', block)) == 3 * 4
    assert MAY_BE_ZERO in block
    # Everybody is asked this question, but not all people answer it.
    assert "Of those who answered" in page.split('id="q2"')[1].split("</article>")[0]
    assert "differences will stand out by chance" in words


def test_small_groups_are_not_shown_anywhere() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_rows(
        wave, [bytes([0, *[0] * 9])] * 1 + [bytes([1, *[0] * 9])] * 80 + [bytes([2, *[0] * 9])] * 90
    )
    finish(wave)
    result = break_down(wave)
    assert [(group.code, group.others, group.n) for group in result.groups] == [
        (0, (1, 3), None),
        (2, (), 90),
    ]
    assert {one.group for one in result.estimates} == {2}
    page = sign_in(wave.survey.owner).get(address_of(wave)).content.decode()
    assert page.count("not shown</span>") == 1
    assert "Small groups are not shown" in page


def test_groups_outside_of_the_rows_need_more_people_and_the_page_says_so() -> None:
    wave = make_closed_wave(people=1050, background=())
    result = break_down(wave)
    assert [group.n is None for group in result.groups] == [False, False, True, True]
    page = sign_in(wave.survey.owner).get(address_of(wave)).content.decode()
    assert page.count("not shown</span>") == 2
    assert "Groups of fewer than 220 people are not shown" in page


def test_the_groups_wait_for_the_choice_of_the_background_of_the_rows() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_people(wave, people=600)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=False)
    client, link = sign_in(wave.survey.owner), f'href="/surveys/{wave.survey.slug}/data/background"'
    for address in (f"/surveys/{wave.survey.slug}/breakdown", address_of(wave)):
        page = client.get(address).content.decode()
        assert link in page.split('id="no-break-down"')[1]
    client.post(address_of(wave))
    assert not Comparison.objects.exists()
    accept_proposal(RowsFile.objects.get())
    assert client.get(address_of(wave))["Refresh"] == "2"


def test_levels_that_the_owner_merged_are_one_group_by_the_names_of_both() -> None:
    groups = Levels(question="q1", levels=((0, 2), (1,), (3,)), hidden=frozenset())
    wave = make_closed_wave(people=1200, background=(groups,))
    result = break_down(wave)
    words = words_of(sign_in(wave.survey.owner).get(address_of(wave)))
    assert f"Kitchen or Office {result.groups[0].n}" in words


def test_a_survey_whose_groups_are_all_small_says_so() -> None:
    wave = open_survey(survey=make_grouped_survey())
    send_rows(wave, [bytes([group, *[0] * 9]) for group in range(3) for _ in range(20)])
    finish(wave)
    assert break_down(wave).estimates == ()
    words = words_of(sign_in(wave.survey.owner).get(address_of(wave)))
    assert "Every group has fewer than 220 people" in words
    assert "ten people for each number" in words


@pytest.mark.parametrize("name", ["q2", "q99", "q1.0", "x"])
def test_a_question_that_is_not_declared_does_not_exist_here(name: str) -> None:
    wave = make_closed_wave()
    client = sign_in(wave.survey.owner)
    assert client.get(address_of(wave, name)).status_code == 404
    assert client.post(address_of(wave, name)).status_code == 404
    assert client.get(address_of(wave, name) + "/breakdown.csv").status_code == 404


def test_a_deleted_survey_has_no_break_down() -> None:
    wave = make_closed_wave()
    break_down(wave)
    client, address = sign_in(wave.survey.owner), address_of(wave)
    delete_survey(survey=wave.survey)
    assert client.get(address).status_code == 404
    assert not Comparison.objects.exists()


def test_a_break_down_that_failed_says_so_and_can_be_tried_again() -> None:
    wave = make_closed_wave()
    client = sign_in(wave.survey.owner)
    client.get(address_of(wave))
    Comparison.objects.update(
        state=Comparison.State.FAILED, problem=GAVE_UP, attempts=MAX_ATTEMPTS + 1
    )
    response = client.get(address_of(wave))
    assert GAVE_UP.replace("’", "’") in words_of(response)
    assert "Refresh" not in response
    assert "Try again" in words_of(response)
    assert client.post(address_of(wave)).status_code == 302
    assert Comparison.objects.get().state == Comparison.State.WAITING


def test_what_the_data_forbid_is_not_offered_again() -> None:
    wave = make_closed_wave()
    client = sign_in(wave.survey.owner)
    client.get(address_of(wave))
    Comparison.objects.update(state=Comparison.State.FAILED, problem=FEW_TOGETHER, attempts=1)
    assert "Try again" not in words_of(client.get(address_of(wave)))


def test_another_declared_question_is_counted_by_groups_if_the_rows_have_both() -> None:
    types = Question.Type
    survey = make_survey(questions=["Ill?"], display_minimum=MINIMUM)
    add_question(survey=survey, type=types.DECLARED, text="Where?", options=["A", "B"])
    add_question(survey=survey, type=types.DECLARED, text="When?", options=["Day", "Night"])
    add_question(survey=survey, type=types.DECLARED, text="Who?", options=["Boss", "Staff"])
    wave = open_survey(survey=survey)
    rows = [
        bytes([number % 2, where, number % 2, int(number >= boss)])
        for where, boss in ((0, 3), (1, 77))
        for number in range(200)
    ]
    send_rows(wave, rows)
    finish(wave)
    # One combination of Where and Who would have only three people.
    assert [one["question"] for one in RowsFile.objects.get().chosen or []] == ["q2", "q3"]
    result = break_down(wave, "q2")
    assert {one.question for one in result.crossed} == {"q3"}
    assert {one.count for one in result.crossed} == {100}
    page = sign_in(wave.survey.owner).get(address_of(wave, "q2")).content.decode()
    day = page.split('id="q3"')[1].split("</article>")[0]
    assert day.count("50\xa0%") == 4
    boss_block = page.split('id="q4"')[1].split("</article>")[0]
    assert "the file of rows does not include both" in boss_block
    assert "block-row" not in boss_block
    assert break_down(wave, "q4").crossed == ()


def test_of_two_groups_that_are_everybody_one_difference_says_it_all() -> None:
    survey = make_survey(questions=["Ill?"], display_minimum=MINIMUM)
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=["A", "B"])
    wave = open_survey(survey=survey)
    send_rows(
        wave,
        [bytes([number < 200 + 80 * where, where]) for where in (0, 1) for number in range(500)],
    )
    finish(wave)
    break_down(wave, "q2")
    words = words_of(sign_in(wave.survey.owner).get(address_of(wave, "q2")))
    assert words.count(" points (") == 1
    assert "by chance" not in words


def test_the_data_page_offers_the_file_of_a_break_down_that_was_made() -> None:
    wave = make_closed_wave()
    address = f"/surveys/{wave.survey.slug}/data"
    client, file = sign_in(wave.survey.owner), f'href="{address_of(wave)}/breakdown.csv"'
    assert file not in client.get(address).content.decode()
    break_down(wave)
    page = client.get(address).content.decode()
    assert page.count(file) == 1
    assert 'id="comparisons"' not in page


def test_warnings_of_the_results_are_on_the_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_closed_wave()
    break_down(wave)
    monkeypatch.setattr("aggregator.views.breakdown.describe_burst", lambda _: "A burst.")
    monkeypatch.setattr("aggregator.views.breakdown.describe_alarm", lambda _: "An alarm.")
    page = sign_in(wave.survey.owner).get(address_of(wave)).content.decode()
    assert 'id="burst"' in page
    assert 'id="alarm"' in page
    assert 'id="demo"' not in page


def test_words_of_the_author_have_the_language_of_the_survey() -> None:
    survey = make_grouped_survey(language="de")
    wave = field_people(open_survey(survey=survey), people=1200)
    break_down(wave)
    page = sign_in(wave.survey.owner).get(address_of(wave)).content.decode()
    block = page.split('id="q3"')[1].split("</article>")[0]
    for text in ("How often?", "Kitchen", "1 (Never)"):
        assert re.search(rf'lang="de"[^>]*>{re.escape(text)}<', block), text
    for text in ("Mean", "Were asked this question", "Prefer not to say"):
        assert re.search(rf'<span (class="block-label" )?dir="auto">{text}<', block), text


def test_compare_lists_no_break_downs_and_its_pages_do_not_show_them() -> None:
    wave = make_closed_wave()
    break_down(wave)
    found = Comparison.objects.get()
    client = sign_in(wave.survey.owner)
    compare = f"/surveys/{wave.survey.slug}/compare"
    assert f"/compare/{found.pk}/result" not in client.get(compare).content.decode()
    assert client.get(f"{compare}/{found.pk}/result").status_code == 404


@pytest.mark.long
def test_many_groups_and_questions_are_divided_over_pages() -> None:
    survey = make_survey(
        questions=[f"Question {number}?" for number in range(40)],
        flips=40,
        display_minimum=MINIMUM,
    )
    options = [f"Ward {number}" for number in range(64)]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    field_people(wave, people=64 * 90)
    break_down(wave, "q41")
    client, seen = sign_in(wave.survey.owner), []
    for number in (1, 2, 3):
        page = client.get(address_of(wave, "q41"), {"page": number}).content.decode()
        found = re.findall(r'<article class="block block-long broken"\s+id="(q\d+)"', page)
        assert page.count('class="block-row"') == len(found) * 64 <= MOST_ROWS_ON_A_PAGE
        seen += found
    assert seen == [f"q{number}" for number in range(1, 41)]
    assert client.get(address_of(wave, "q41"), {"page": "no number"}).status_code == 200


def test_a_rehearsal_is_marked_and_broken_down_like_a_survey() -> None:
    wave = make_closed_wave()
    Survey.objects.filter(pk=wave.survey.pk).update(rehearsal=True)
    break_down(wave)
    page = sign_in(wave.survey.owner).get(address_of(wave)).content.decode()
    assert 'id="rehearsal"' in page
    assert 'id="q2"' in page


def test_a_break_down_counts_the_browsers_reports_and_no_coins() -> None:
    survey = make_survey(questions=["Ill?"], display_minimum=MINIMUM, coins=True)
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=["A", "B"])
    open_survey(survey=survey)
    coins = Wave.objects.get(survey=survey, mode=Wave.Mode.MANUAL)
    browsers = Wave.objects.get(survey=survey, mode=Wave.Mode.ELECTRONIC)
    send_rows(coins, [bytes([number % 2]) for number in range(300)])
    send_rows(browsers, [bytes([number % 2, number % 2]) for number in range(200)])
    finish(browsers)
    process(coins)
    assert break_down(browsers, "q2").n == 200
    words = words_of(sign_in(survey.owner).get(address_of(browsers, "q2")))
    assert "A 100" in words
    assert "300 sealed" not in words


def test_a_declared_question_on_the_results_page_leads_to_its_break_down() -> None:
    wave = make_closed_wave()
    page = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/results").content.decode()
    assert page.count(f'href="{address_of(wave)}"') == 1
    block = page.split('id="q1"')[1].split("</article>")[0]
    assert f'href="{address_of(wave)}"' in block
