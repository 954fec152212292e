"""The budget of a draft: its bar, and remedies that one press applies and a second press undoes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from surveys.authoring.budget import GOALS, LIMIT, RECOMMENDED, Budget
from surveys.authoring.errors import NotDraft, RemedyRefused
from surveys.authoring.launch_checks import find_launch_problems, list_warnings
from surveys.authoring.remedies import apply_remedy, undo_remedy
from surveys.authoring.services import add_question, edit_question, plan_comparison
from surveys.authoring.stamps import stamp_budget
from surveys.manifest.manifest import Limit, Manifest, Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Question, Survey
from surveys.planning.question_costs import find_question_cost
from surveys.planning.remedies import Remedy, RemedyKind, protect
from tests.support.drafts import make_random, manifest_of, texts
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import at, sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
WORDS = ("of a", "of b", "of c", "of d", "of e", "of f", "of g", "of h", "of i")


def bytes_of(survey: Survey) -> bytes:
    return serialize_manifest(manifest_of(survey))


def stamp_of(survey: Survey) -> str:
    stored = Survey.objects.get(pk=survey.pk)
    return stamp_budget(stored, manifest_of(survey), list(survey.questions.all()))


def problems_of(survey: Survey) -> list[str]:
    return find_launch_problems(survey=Survey.objects.get(pk=survey.pk), now=timezone.now())


def list_offered(manifest: Manifest) -> list[tuple[str, Remedy]]:
    offers = Budget(manifest=manifest).offers
    return [(offer.goal, remedy) for offer in offers for remedy in offer.remedies]


def assert_changes_least(before: Manifest, remedy: Remedy, limit: float) -> None:
    after = remedy.manifest
    pairs = list(zip(before.questions, after.questions, strict=True))
    assert all(new.flips >= old.flips for old, new in pairs)
    assert all(new == old for old, new in pairs if old.name in remedy.kept)
    if remedy.kind == RemedyKind.SUBSET:
        assert after.drawn is not None
        assert after.questions == before.questions
        most = (before.drawn or before.block_count) - 1
        assert after.drawn == most or replace(before, drawn=after.drawn + 1).epsilon > limit
    else:
        assert after.drawn == before.drawn
        assert protect(before, flips=remedy.flips - 1, kept=remedy.kept).epsilon > limit


def assert_agrees_with_cards(remedy: Remedy) -> None:
    """Check that the remedy states the widest margin that any card shows."""
    manifest, widest = remedy.manifest, remedy.precision
    cost = find_question_cost(manifest, widest.question)
    assert cost is not None
    assert f"The least precise is {widest.name}: {widest.precision}." in remedy.facts
    if manifest.people_planned:
        assert widest in cost.expected
        costs = (find_question_cost(manifest, one) for one in manifest.questions)
        assert widest.margin == max(each.margin for one in costs if one for each in one.expected)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 10), marks=pytest.mark.long)])
def test_a_remedy_of_a_random_draft_fits_and_is_undone_to_the_same_bytes(seeds: range) -> None:
    tried = dict.fromkeys(RemedyKind, 0)
    for seed in seeds:
        survey = make_random(seed)
        manifest, before = manifest_of(survey), bytes_of(survey)
        for goal, remedy in list_offered(manifest):
            limit = GOALS[goal]
            assert_changes_least(manifest, remedy, limit)
            assert_agrees_with_cards(remedy)
            kept = [
                str(row.pk)
                for row, one in zip(survey.questions.all(), manifest.questions, strict=True)
                if one.name in remedy.kept
            ]
            undo = apply_remedy(
                survey=survey,
                stamp=stamp_of(survey),
                kind=remedy.kind,
                goal=goal,
                kept=kept if remedy.kind == RemedyKind.SOME else None,
            )
            after = manifest_of(survey)
            assert (after.questions, after.drawn) == (
                remedy.manifest.questions,
                remedy.manifest.drawn,
            )
            assert after.epsilon == remedy.total <= limit
            assert not any("a total ε of 20" in one for one in problems_of(survey))
            assert (Limit.TOTAL_EPSILON in after.acknowledged) == (remedy.total > 5.5)
            undo_remedy(survey=survey, undo=undo, stamp=undo["stamp"])
            assert bytes_of(survey) == before
            tried[remedy.kind] += 1
    assert min(tried.values()) >= len(seeds) / 3, tried


def read_forms(page: str) -> list[dict[str, Any]]:
    """Return the fields that each button of the budget sends, and the URL as `to`."""
    found = []
    for to, body in re.findall(r'<form[^>]* action="([^"]+/budget[^"]*)">(.*?)</form>', page, re.S):
        sent: dict[str, Any] = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', body))
        sent["keep"] = re.findall(r'name="keep" value="(\d+)" checked', body)
        found.append({**sent, "to": to})
    return found


def press(author: Client, form: dict[str, Any], **changes: Any) -> Any:
    sent = {**form, **changes}
    return author.post(sent.pop("to"), sent)


@pytest.mark.parametrize("kind", RemedyKind)
@pytest.mark.parametrize("count", [30, 45])
def test_many_questions_open_in_three_presses_after_the_first_warning(
    author: Client, owner: User, count: int, kind: RemedyKind
) -> None:
    survey = make_survey(
        owner=owner,
        minimum_batch=50,
        display_minimum=150,
        questions=texts(count),
        people_expected=20_000,
    )
    warning = author.get(at("questions", survey))
    assert "the survey cannot be opened." in words_of(warning)
    forms = read_forms(warning.content.decode())
    [form] = [one for one in forms if (one["goal"], one["kind"]) == (RECOMMENDED, kind)]
    after = author.get(press(author, form)["Location"])  # one
    assert f'href="{at("launch", survey)}"' in after.content.decode()
    page = author.get(at("launch", survey)).content.decode()  # two
    assert "acknowledge_" not in page
    [shown] = re.findall(r'name="manifest" value="(\w+)"', page)
    assert author.post(at("launch", survey), {"manifest": shown}).status_code == 302  # three
    assert not survey.is_draft()


@pytest.mark.parametrize("flips", [25, 33, 40])
@pytest.mark.parametrize("count", [4, 12, 30])
def test_a_page_never_says_that_the_survey_cannot_and_can_be_opened(
    author: Client, owner: User, count: int, flips: int
) -> None:
    survey = make_survey(owner=owner, questions=texts(count), flips=flips)
    is_refused = manifest_of(survey).epsilon > 20
    for name in ("questions", "edit", "launch"):
        said = words_of(author.get(at(name, survey)))
        cannot = [text for text in ("annot be opened", "browsers accept") if text in said]
        can = [text for text in ("can open the survey", "has everything it needs") if text in said]
        assert bool(cannot) == is_refused
        assert not (cannot and can)
        assert said.count("exceed a total") == (is_refused and name != "questions")
    assert bool(problems_of(survey)) == is_refused


def test_a_question_that_uses_most_of_the_total_is_named_with_a_link(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, questions=texts(4))
    assert Budget(manifest=manifest_of(survey)).largest is None
    dear = add_question(survey=survey, type="several", text="Which?", options=texts(6))
    for name in ("questions", "edit", "launch"):
        page = author.get(at(name, survey))
        assert words_of(page).count("Q5 alone uses 60 % of this total.") == 1
        assert f'href="{at("question_edit", survey, dear.pk)}">shorten or remove' in page.text
    Survey.objects.update(drawn=2)
    assert Budget(manifest=manifest_of(Survey.objects.get())).largest is None


def test_questions_that_resemble_others_take_one_line() -> None:
    survey = make_survey(questions=[f"Have you ever broken the rule {word}?" for word in WORDS])
    add_question(survey=survey, text="Do you like to swim in the cold sea in winter?")
    add_question(survey=survey, text="Do you like to swim in the cold sea in winters?")
    manifest = manifest_of(survey)
    [line] = [one for one in list_warnings(survey=survey, manifest=manifest) if "resemble" in one]
    assert line.startswith(
        "Questions 2 to 9 resemble question 1; question 11 resembles question 10. "
    )
    Question.objects.filter(survey=survey).update(text="The same?")
    [equal] = [one for one in problems_of(survey) if "same as" in one]
    assert equal.startswith("Questions 2 to 11 ask the same as question 1. ")


@pytest.mark.parametrize("page", ["questions", "edit", "launch"])
def test_each_page_with_the_budget_comes_back_and_undoes(
    author: Client, owner: User, page: str
) -> None:
    survey = make_survey(owner=owner, questions=texts(8), drawn=7, people_expected=2_000)
    before = bytes_of(survey)
    shown = author.get(at(page, survey))
    assert "Privacy used: 140 % of what is recommended." in words_of(shown)
    assert "For specialists ε = 7.70 (recommended: up to 5.5; limit: 20)." in words_of(shown)
    assert "related, nearly all guesses about these answers can be right." in words_of(shown)
    assert "about 1,250 get each question. The least precise is Q1: ±5.3 points." in words_of(shown)
    form = read_forms(shown.text)[0]
    answer = press(author, form)
    assert answer["Location"] == at(page, survey) + "#budget"
    assert manifest_of(survey).drawn == 5
    after = author.get(at(page, survey))
    assert "Privacy used: 100 % of what" in words_of(after)
    assert words_of(after).count("Each person is asked 5 of 8 questions.") >= 1
    [undo] = read_forms(after.text)
    assert press(author, undo)["Location"] == at(page, survey) + "#budget"
    assert bytes_of(survey) == before
    assert press(author, undo).status_code == 422  # a second press


def test_two_windows_do_not_undo_each_other(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=texts(8))
    first, second, _ = read_forms(author.get(at("questions", survey)).text)
    assert press(author, first).status_code == 302
    once = bytes_of(survey)
    for form in (first, second):  # a double press: the total already fits
        assert press(author, form)["Location"] == at("questions", survey) + "#budget"
        assert bytes_of(survey) == once
    assert press(sign_in(owner), first).status_code == 422
    [undo] = read_forms(author.get(at("questions", survey)).text)
    question = survey.questions.all()[0]
    edit_question(question=question, text="Other words?")  # the step can still be undone
    assert len(read_forms(author.get(at("questions", survey)).text)) == 1
    edit_question(question=question, text=texts(1)[0], flips=40)
    for form, why in ((undo, "can no longer be undone"), (first, "changed after the page was")):
        refused = press(author, form)
        assert refused.status_code == 422
        assert why in words_of(refused)
    assert read_forms(author.get(at("questions", survey)).text) == []
    edit_question(question=question, flips=25)
    assert bytes_of(survey) == once
    assert press(author, undo).status_code == 302
    # In another browser, there is nothing to undo.
    assert press(sign_in(owner), undo).status_code == 422


def test_the_ticked_questions_keep_their_strength(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=texts(8))
    keys = [str(one.pk) for one in survey.questions.all()]
    page = author.get(at("questions", survey))
    assert "Suggested: Q1 and Q2. The others then have at least 37 flips" in words_of(page)
    some = read_forms(page.text)[2]
    assert some["keep"] == keys[:2]
    refused = press(author, some, keep=keys[:6])
    assert refused.status_code == 422
    assert "Tick fewer questions." in words_of(refused)
    assert read_forms(refused.content.decode())[2]["keep"] == keys[:6]
    assert press(author, some, keep=[keys[3], "9" * 5000, "x"]).status_code == 302
    flips = [one.flips for one in survey.questions.all()]
    assert flips[3] == 25
    assert {*flips[:3], *flips[4:]} == {35}
    assert manifest_of(survey).epsilon <= 5.5
    other = make_survey(owner=owner, questions=texts(8))
    some = read_forms(author.get(at("questions", other)).text)[2]
    assert press(author, some, keep=[]).status_code == 302
    assert {one.flips for one in other.questions.all()} == {34}


def test_forged_and_foreign_requests_change_nothing(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=texts(8))
    before = bytes_of(survey)
    form = read_forms(author.get(at("questions", survey)).text)[0]
    for change in ({"kind": "all"}, {"goal": "100"}, {"page": "//evil"}, {"stamp": ""}):
        assert press(author, form, **change).status_code == 400
    assert press(author, form, goal=LIMIT).status_code == 422  # the limit is not passed
    assert press(sign_in(make_survey().owner), form).status_code == 404
    assert author.get(form["to"]).status_code == 405
    assert bytes_of(survey) == before
    open_survey(survey=survey)
    for name in ("budget_remedy", "budget_undo"):
        assert press(author, {**form, "to": at(name, survey)}).status_code == 409
    with pytest.raises(NotDraft):
        apply_remedy(survey=survey, stamp=form["stamp"], kind=RemedyKind.SUBSET, goal=RECOMMENDED)


def reasons_of(survey: Survey) -> list[str]:
    return [one for offer in Budget(manifest=manifest_of(survey)).offers for one in offer.reasons]


def test_what_does_not_help_is_not_offered_and_says_why() -> None:
    coins = make_survey(questions=texts(8), coins=True)
    assert list_offered(manifest_of(coins)) == []
    [reason] = reasons_of(coins)
    assert reason.startswith("Two coins cost ε = 8.79, whatever the strength.")
    tied = make_survey(questions=texts(1), people_expected=10_000)
    rule = {"name": str(tied.questions.get().pk), "is": [1]}
    for text in texts(8)[1:]:
        add_question(survey=tied, text=text, rule=rule)
    kinds = [remedy.kind for _, remedy in list_offered(manifest_of(tied))]
    assert RemedyKind.SUBSET not in kinds
    assert "You need at least two questions that no rule ties together." in reasons_of(tied)
    few = make_survey(questions=texts(30), people_expected=200)
    said = "If every question has at least 46 flips of 100, any value is plausible for Q1."
    assert said in reasons_of(few)


def test_remedies_that_only_reach_the_limit_are_folded_unless_there_are_no_others(
    author: Client, owner: User
) -> None:
    usual = make_survey(owner=owner, questions=texts(30))
    long = make_survey(owner=owner, questions=())
    options = [f"Option {number}" for number in range(60)]
    for text in texts(4):
        add_question(survey=long, text=text, type="several", options=options, flips=45)
    for survey, is_folded in ((usual, True), (long, False)):
        first, second = Budget(manifest=manifest_of(survey)).offers
        assert (bool(first.remedies), second.is_folded) == (is_folded, is_folded)
        page = author.get(at("questions", survey))
        assert ("<details open>" in page.content.decode()) != is_folded
        summary = "changes that stay above the recommended total (you must acknowledge this)"
        assert summary in words_of(page)
    assert "Even 49 flips of 100 for all questions cost ε = 9.61." in words_of(page)


@pytest.mark.parametrize("coins", [False, True])
def test_a_refused_opening_names_the_least_that_allows_it(coins: bool) -> None:
    survey = make_survey(questions=texts(12), flips=10, coins=coins)
    [refusal] = [one for one in problems_of(survey) if "exceed a total" in one]
    ways = "Ask each person 9 of 12 questions, or use at least 16 flips of 100 for every question."
    assert refusal.endswith(f"browsers accept. {ways}")


def test_coins_that_exceed_the_limit_are_one_problem() -> None:
    survey = make_survey(questions=texts(20), coins=True)
    [problem] = [one for one in problems_of(survey) if "exceed a total" in one]
    assert problem.endswith("Ask fewer yes/no questions, or switch the coins off.")


def test_a_wide_margin_is_called_very_imprecise() -> None:
    said = set()
    for people in (50, 100, 2_000):
        survey = make_survey(questions=texts(8), people_expected=people)
        for _, remedy in list_offered(manifest_of(survey)):
            is_wide = remedy.precision.margin > 0.2
            assert remedy.facts.endswith("points. That is very imprecise.") == is_wide
            said.add(is_wide)
    assert said == {False, True}


def test_a_remedy_that_breaks_a_plan_is_not_offered() -> None:
    survey = make_survey(questions=texts(2), flips=5, cap=3_000)
    plan_comparison(survey=survey, names=("q1", "q2"))
    assert [one.kind for _, one in list_offered(manifest_of(survey))] == [
        RemedyKind.STRENGTH,
    ]
    [reason] = [one for one in reasons_of(survey) if "comparison" in one]
    assert reason.startswith("If each person is asked 1 of 2 questions: The planned comparison ")
    with pytest.raises(RemedyRefused, match="The planned comparison"):
        apply_remedy(
            survey=survey, stamp=stamp_of(survey), kind=RemedyKind.SUBSET, goal=RECOMMENDED
        )


def test_a_subset_that_breaks_a_key_driver_says_why() -> None:
    request = ReleaseRequest(
        kind=ReleaseKind.KEY_DRIVER, questions=("q1", "q2", "q3"), epsilon_hundredths=50
    )
    survey = make_survey(
        questions=texts(12), publication=Publication.PROTECTED, planned=[request], cap=3_000
    )
    assert RemedyKind.SUBSET not in [one.kind for _, one in list_offered(manifest_of(survey))]
    [reason] = [one for one in reasons_of(survey) if "Key driver" in one]
    assert reason == (
        "If each person is asked 5 of 12 questions: Key driver of Q1 among Q2 and Q3 cannot be "
        "released. A release of this kind cannot be about question 1, question 2 and question 3, "
        "which some people are not asked. You can remove it."
    )
    # A rule prevents the plan too, so the random subset is not the reason.
    first, *_, last = survey.questions.all()[:3]
    edit_question(question=last, rule={"name": str(first.pk), "is": [1]})
    assert not any("some people are not asked" in one for one in reasons_of(survey))
