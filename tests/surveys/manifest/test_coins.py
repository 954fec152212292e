"""The wave for people who toss two coins: its manifest, its cost, its opening and its end."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from aggregator.batches.closing import close_due_waves
from surveys.authoring.drafts import build_manifest
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.services import add_question
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.services import close_wave
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.languages import hash_words
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.serialization import hash_manifest, parse_manifest, serialize_manifest
from surveys.models import Question, Survey, Wave
from surveys.planning.question_costs import find_question_cost
from surveys.respondent.label.label import describe_protection
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import send_codes, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def make_mixed_survey(**settings: Any) -> Survey:
    """Make a survey: questions 1 and 3 can be answered with coins; 2, 4 and 5 cannot."""
    survey = make_survey(questions=["First?"], flips=40, coins=True, **settings)
    add_question(survey=survey, text="Which?", type=Question.Type.CHOICE, options=["A", "B"])
    first = add_question(survey=survey, text="Third?", flips=12)
    add_question(survey=survey, text="Refused?", refusal=True)
    add_question(survey=survey, text="Ruled?", rule={"name": str(first.pk), "is": [1]})
    return survey


def draft_of(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


def test_only_plain_yes_no_questions_are_asked_and_in_the_same_words() -> None:
    survey = make_mixed_survey(
        introduction="About it.", closing_message="Bye.", cap=500, people_expected=400, drawn=2
    )
    survey.translations.create(language="de", texts={"First?": "Erstens?"})
    manifest = draft_of(survey)
    coins = derive_coin_manifest(manifest)
    assert coins is not None
    assert [(one.name, one.text) for one in coins.questions] == [("q1", "First?"), ("q3", "Third?")]
    for one in coins.questions:
        assert (one.k, one.flips, one.threshold) == (2, 25, 3 * 2**30)
        assert [(option.code, option.text) for option in one.options] == [(1, "Yes"), (0, "No")]
    assert (coins.mode, coins.coins, coins.drawn) == (Mode.MANUAL, False, None)
    assert (coins.cap, coins.people_expected, coins.quick_exit) == (None, None, True)
    for name in (
        *("survey", "wave", "title", "introduction", "language", "translations", "opens"),
        *("closes", "minimum_batch", "display_minimum", "closing_message"),
    ):
        assert getattr(coins, name) == getattr(manifest, name), name
    assert parse_manifest(serialize_manifest(coins)) == coins


def test_there_is_no_coin_manifest_without_the_switch_or_a_suitable_question() -> None:
    assert derive_coin_manifest(draft_of(make_survey())) is None
    survey = make_survey(questions=[], coins=True)
    add_question(survey=survey, text="Refused?", refusal=True)
    assert derive_coin_manifest(draft_of(survey)) is None
    (problem,) = find_launch_problems(survey=survey, now=timezone.now())
    assert "no question can be answered with them" in problem


class TestCost:
    def test_the_total_is_that_of_the_more_expensive_way_to_answer(self) -> None:
        weak = draft_of(make_survey(flips=40, coins=True))  # 2 ln(60/40) in the browser
        assert weak.drawn_epsilon == pytest.approx(2 * math.log(1.5), abs=1e-6)
        assert weak.epsilon == weak.coin_epsilon == pytest.approx(2 * math.log(3), abs=1e-6)
        strong = draft_of(make_survey(flips=12, coins=True))
        assert strong.epsilon == strong.drawn_epsilon > strong.coin_epsilon > 0
        assert draft_of(make_survey(flips=40)).coin_epsilon == 0

    def test_people_who_toss_coins_are_asked_everything_even_if_browsers_draw_a_subset(
        self,
    ) -> None:
        survey = make_survey(questions=["A?", "B?", "C?"], flips=25, coins=True, drawn=1)
        manifest = draft_of(survey)
        assert manifest.drawn_epsilon == pytest.approx(math.log(3), abs=1e-6)
        assert manifest.epsilon == pytest.approx(3 * math.log(3), abs=1e-6)

    def test_a_question_costs_as_much_as_the_more_expensive_way(self) -> None:
        manifest = draft_of(make_survey(flips=40, coins=True))
        cost = find_question_cost(manifest, manifest.questions[0])
        assert cost is not None
        assert cost.epsilon == pytest.approx(math.log(3), abs=1e-6)
        assert cost.epsilon <= cost.statement
        [line] = cost.lines
        assert line == (
            "With two coins, this question reveals more than in the browser: ε = 1.10 instead of "
            "0.41."
        )

    def test_the_author_reads_why_the_total_is_larger(self) -> None:
        survey = make_survey(flips=40, coins=True)
        page = sign_in(survey.owner).get(reverse("surveys:edit", args=[survey.slug]))
        words = " ".join(page.content.decode().split())
        assert "ε = 2.20" in words
        assert "With two coins, a person reveals more than in the browser" in words

    def test_too_many_coin_questions_are_a_separate_problem(self) -> None:
        questions = [f"Question {number}?" for number in range(19)]  # 19 ln 3 = 20.9
        survey = make_survey(questions=questions, flips=40, coins=True)
        (problem,) = find_launch_problems(survey=survey, now=timezone.now())
        assert problem.startswith("With two coins")
        survey.coins = False
        assert find_launch_problems(survey=survey, now=timezone.now()) == []


class TestLabel:
    def test_the_browser_page_says_what_its_own_codes_reveal_together(self) -> None:
        manifest = draft_of(make_survey(flips=40, coins=True))
        without = draft_of(make_survey(flips=40))
        coins = derive_coin_manifest(manifest)
        assert coins is not None
        told = describe_protection(manifest).together
        assert told == describe_protection(without).together
        assert told[2] == "If all your answers are related, at most 70 in 100."
        # 3² / (1 + 3²)
        by_coins = describe_protection(coins).together
        assert by_coins[2] == "If all your answers are related, at most 90 in 100."

    @pytest.mark.parametrize("translations", [{}, {"de": hash_words("{}")}])
    def test_it_says_that_the_language_and_the_use_of_coins_are_visible(
        self, translations: dict[str, str]
    ) -> None:
        manifest = replace(draft_of(make_survey(coins=True)), translations=translations)
        coins = derive_coin_manifest(manifest)
        assert coins is not None
        for one in (manifest, coins):
            shown = describe_protection(one).shows
            assert ("In which language you read it." in shown) == bool(translations)
            assert ("That you used coins." in shown) == (one is coins)


class TestOpeningAndClosing:
    def test_both_waves_are_opened_together_under_one_number(self) -> None:
        wave = open_survey(survey=make_mixed_survey())
        coins = wave.survey.waves.manual().newest()
        assert coins is not None
        assert (wave.mode, coins.mode) == (Wave.Mode.ELECTRONIC, Wave.Mode.MANUAL)
        assert (coins.number, coins.cap, coins.is_open) == (wave.number, None, True)
        assert hash_manifest(bytes(coins.manifest)) == bytes(coins.manifest_hash)
        assert bytes(coins.manifest_hash) != bytes(wave.manifest_hash)
        assert coins.minimum_batch == wave.minimum_batch
        assert wave.survey.find_wave() == wave

    def test_without_coins_there_is_one_wave(self) -> None:
        wave = make_launched_survey()
        assert wave.survey.waves.manual().newest() is None
        assert wave.survey.waves.count() == 1

    @pytest.mark.parametrize("mode", Wave.Mode.values)
    def test_both_waves_close_together_whichever_is_named(self, mode: str) -> None:
        survey = make_launched_survey(coins=True).survey
        named = survey.waves.get(mode=mode)
        closed = close_wave(wave_id=named.pk, ending=Wave.Ending.OWNER)
        assert closed == named
        assert set(survey.waves.values_list("state", "ending")) == {("closed", "owner")}
        assert len(set(survey.waves.values_list("closed_at"))) == 1
        with pytest.raises(NotOpen):
            close_wave(wave_id=named.pk, ending=Wave.Ending.OWNER)

    def test_another_survey_stays_open(self) -> None:
        other = make_launched_survey(coins=True).survey
        close_wave(wave_id=make_launched_survey(coins=True).pk, ending=Wave.Ending.OWNER)
        assert set(other.waves.values_list("state", flat=True)) == {"open"}

    def test_the_cap_on_browsers_ends_both_waves_and_coins_never_do(self) -> None:
        wave = make_launched_survey(coins=True, cap=30)
        coins = wave.survey.waves.manual().newest()
        assert coins is not None
        send_codes(coins, yes=[10, 10], total=40)
        assert close_due_waves() == 0
        send_codes(wave, yes=[10, 10], total=30)
        assert close_due_waves() == 1
        assert set(wave.survey.waves.values_list("ending", flat=True)) == {"cap"}

    def test_the_closing_date_ends_both_waves(self) -> None:
        closes_at = timezone.now().replace(microsecond=0) + timedelta(hours=1)
        wave = make_launched_survey(coins=True, closes_at=closes_at)
        with pytest.MonkeyPatch.context() as later:
            later.setattr(timezone, "now", lambda: closes_at)
            assert close_due_waves() == 1
        assert set(wave.survey.waves.values_list("ending", flat=True)) == {"date"}

    def test_its_page_counts_one_wave_and_links_to_the_pages_for_coins(self) -> None:
        survey = make_launched_survey(coins=True).survey
        page = sign_in(survey.owner).get(reverse("surveys:edit", args=[survey.slug]))
        assert "in all 2 waves" not in page.content.decode()
        for name in ("coins", "paper", "coin_results"):
            assert reverse(f"aggregator:{name}", args=[survey.slug]) in page.content.decode()

    def test_the_respondents_page_asks_the_browsers_questions(self) -> None:
        wave = open_survey(survey=make_mixed_survey())
        page = sign_in(wave.survey.owner).get(reverse("surveys:respond", args=[wave.survey.slug]))
        assert wave.manifest_hash_hex in page.content.decode()
