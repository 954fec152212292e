"""Questions of all types over HTTP: choosing a type, writing, costs, moving, and deleting."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from surveys.authoring.services import add_question
from surveys.manifest.serialization import hash_manifest
from surveys.manifest.strength import describe_strength
from surveys.models import Question, Survey, Wave
from tests.support.factories import open_survey
from tests.support.fielding import at
from tests.support.question_forms import GOOD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture
def survey(owner: User) -> Survey:
    return Survey.objects.create_owned(
        owner, title="Everything", minimum_batch=10, display_minimum=10
    )


def new(survey: Survey, type_: str) -> str:
    return f"{at('question_create', survey)}?type={type_}"


def add(survey: Survey, type_: str = "yes_no", text: str = "Question?", **content: Any) -> Question:
    return add_question(survey=survey, text=text, type=type_, **content)


def words(response: Any) -> str:
    """Return the visible text on one line, without markup."""
    text = re.sub(
        r"<(?:script|style).*?</(?:script|style)>|<[^>]+>", " ", response.text, flags=re.S
    )
    return " ".join(unescape(text).replace("\N{NO-BREAK SPACE}", " ").split())


def first(survey: Survey) -> Question:
    return survey.questions.all()[0]


def test_adding_a_question_begins_with_its_type(author: Client, survey: Survey) -> None:
    page = author.get(at("question_create", survey))
    for type_ in Question.Type:
        assert f'href="?type={type_.value}"' in page.text
        assert type_.label in words(page)
    assert "<form class" not in page.text


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_type_that_does_not_exist_leads_back_to_the_list(
    author: Client, survey: Survey, method: str
) -> None:
    question = add(survey)
    for path in (new(survey, "essay"), f"{at('question_edit', survey, question.pk)}?type=essay"):
        page = getattr(author, method)(path)
        assert page.status_code == 404
        assert "There is no such type of question" in words(page)
        assert 'href="?type=scale"' in page.text


@pytest.mark.parametrize("type_", GOOD)
def test_a_question_of_each_type_is_added_edited_and_shown(
    author: Client, survey: Survey, type_: str
) -> None:
    add(survey, text="First?")
    form = author.get(new(survey, type_))
    assert form.status_code == 200
    assert ("Update the numbers" in words(form)) == (type_ not in ("information", "declared"))
    answer = author.post(new(survey, type_), GOOD[type_])
    question = survey.questions.get(position=2)
    assert answer["Location"] == f"{at('questions', survey)}#question-{question.pk}"
    assert question.type == type_
    draft = words(author.get(at("questions", survey)))
    for text in filter(None, GOOD[type_]["text"].split("\n")):
        assert text in draft

    edit = at("question_edit", survey, question.pk)
    assert author.get(edit).status_code == 200
    changed = {**GOOD[type_], "text": "Changed?"}
    assert author.post(edit, changed).status_code == 302
    again = survey.questions.get(position=2)
    assert again.text == "Changed?"
    for name in set(Question.CONTENT) - {"text"}:
        assert getattr(again, name) == getattr(question, name)


def test_the_form_shows_what_is_stored(author: Client, survey: Survey) -> None:
    first_one = add(survey)
    rule = {"name": str(first_one.pk), "is": [1]}
    several = add(
        survey, "several", options=["A", "B", "C"], limit=2, refusal=True, rule=rule, flips=33
    )
    page = author.get(at("question_edit", survey, several.pk)).text
    assert "A\nB\nC</textarea>" in page
    assert re.search(r'name="limit" value="2"', page)
    assert re.search(r'name="refusal"[^>]* checked', page)
    assert re.search(r'name="rule" value="Q1 is yes"', page)
    assert re.search(r'value="33"[^>]* checked', page)


@pytest.mark.parametrize(
    ("type_", "changes", "field", "message"),
    [
        ("choice", {"options": "A\n\na"}, "options", "Line 3 is the same as line 1."),
        ("choice", {"options": "A\na"}, "options", "Line 2 is the same as line 1."),
        ("choice", {"options": "\n".join(map(str, range(65)))}, "options", "There are 65 options."),
        ("scale", {"minimum": "5"}, "maximum", "must be above the first point, 5"),
        ("number", {"maximum": "0"}, "maximum", "must be above the smallest number, 0"),
        ("number", {"maximum": "2000000"}, "maximum", "The range is too wide"),
        ("several", {"limit": "3"}, "limit", "a limit of 3 changes nothing"),
        ("follow_up", {"follow_up": ""}, "follow_up", "Enter the follow-up."),
        ("declared", {"confirmed": ""}, "confirmed", "Tick the box if this answer may"),
        ("yes_no", {"rule": "Q2 is yes"}, "rule", "Q2 does not come before this question."),
        ("yes_no", {"rule": "Q1 is yes or Q1 is no"}, "rule", "Question 2 would always be asked"),
        ("yes_no", {"rule": "Q1 is yes and Q1 is no"}, "rule", "Question 2 would never be asked"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"cost": "1"}])
def test_invalid_input_is_explained_at_its_field_and_kept(
    author: Client,
    survey: Survey,
    type_: str,
    changes: dict[str, str],
    field: str,
    message: str,
    more: dict[str, str],
) -> None:
    add(survey, text="First?")
    posted = {**GOOD[type_], "text": "What I typed?", **changes, **more}
    page = author.post(new(survey, type_), posted)
    assert page.status_code == 422
    assert "<title>Error: " in page.text
    assert re.search(rf'<a href="#id_{field}">[^<]*{re.escape(message)}', page.text)
    assert f'id="id_{field}_error"' in page.text
    assert "What I typed?" in page.text
    for value in changes.values():
        assert value[:20] in unescape(page.text)
    assert survey.questions.count() == 1


def test_the_hundredth_question_of_any_type_is_the_last(author: Client, survey: Survey) -> None:
    Question.objects.bulk_create(
        Question(survey=survey, position=number, text="Q?") for number in range(1, 101)
    )
    page = author.post(new(survey, "scale"), GOOD["scale"])
    assert page.status_code == 422
    assert "100 questions at most. Delete one first." in words(page)
    assert author.get(at("questions", survey)).status_code == 200


def test_a_type_is_changed_and_what_fits_is_kept(author: Client, survey: Survey) -> None:
    question = add(survey, "choice", "Which?", options=["A", "B"], refusal=True, flips=40)
    edit = at("question_edit", survey, question.pk)
    page = author.get(f"{edit}?type=")
    assert "Change the type" in words(page)
    assert "as it is" in words(page)
    form = author.get(f"{edit}?type=scale").text
    assert "Which?" in form
    assert re.search(r'value="40"[^>]* checked', form)
    assert re.search(r'name="minimum" value="1"', form)
    author.post(f"{edit}?type=scale", {**GOOD["scale"], "text": "Which?"})
    question.refresh_from_db()
    assert (question.type, question.options, question.maximum) == ("scale", [], 5)


def test_a_change_that_breaks_another_rule_is_refused_and_says_what_to_do(
    author: Client, survey: Survey
) -> None:
    parent = add(survey, "choice", "Which?", options=["A", "B"])
    add(survey, rule={"name": str(parent.pk), "is": [1]})
    edit = at("question_edit", survey, parent.pk)
    for path, posted in (
        (edit, {**GOOD["choice"], "options": "B\nA"}),
        (f"{edit}?type=scale", GOOD["scale"]),
    ):
        page = author.post(path, posted)
        assert page.status_code == 422
        assert "Question 2 depends on the answer “B” to this question" in words(page)
        parent.refresh_from_db()
        assert (parent.type, parent.options) == ("choice", ["A", "B"])


@pytest.mark.parametrize(("mover", "direction"), [(0, "down"), (1, "up")])
def test_a_move_that_breaks_a_rule_is_refused_on_the_draft(
    author: Client, survey: Survey, mover: int, direction: str
) -> None:
    parent = add(survey, text="Parent?")
    add(survey, text="Child?", rule={"name": str(parent.pk), "is": [1]})
    pk = survey.questions.all()[mover].pk
    page = author.post(at("question_move", survey, pk), {"direction": direction})
    assert page.status_code == 422
    assert "Nothing was changed Question 2 depends on question 1" in words(page)
    assert [q.text for q in survey.questions.all()] == ["Parent?", "Child?"]


def delete(author: Client, survey: Survey, pk: int) -> Any:
    return author.post(at("questions_selected", survey), {"action": "delete", "question": pk})


def test_a_deletion_that_breaks_a_rule_is_refused(author: Client, survey: Survey) -> None:
    parent = add(survey, text="Parent?")
    child = add(survey, text="Child?", rule={"name": str(parent.pk), "is": [1]})
    page = delete(author, survey, parent.pk)
    assert page.status_code == 422
    assert "Question 2 depends on question 1, which would be gone." in words(page)
    assert "Parent?" in words(page)
    assert survey.questions.count() == 2
    assert delete(author, survey, child.pk).status_code == 302
    assert delete(author, survey, parent.pk).status_code == 302


def test_opening_ends_all_editing_and_loses_nothing_typed(author: Client, survey: Survey) -> None:
    add(survey)
    open_survey(survey=survey)
    posted = {**GOOD["several"], "options": "Typed one\nTyped two", "rule": "Typed rule"}
    page = author.post(new(survey, "several"), posted)
    assert page.status_code == 409
    assert "Typed one Typed two" in words(page)
    assert "Typed rule" in words(page)


def test_earlier_questions_are_listed_next_to_the_rule_with_their_answers(
    author: Client, survey: Survey
) -> None:
    add(survey, text="Ever?")
    add(survey, "choice", "How?", options=["Bus", "Car"])
    add(survey, "number", "How much?", minimum=0, maximum=9)
    last = add(survey, "scale", "How good?", minimum=-1, maximum=1)
    for path in (new(survey, "information"), new(survey, "yes_no")):
        text = words(author.get(path))
        assert "Q1 Ever? ever no, yes Q2 How? how 1 “Bus”, 2 “Car” Q3 How much? not usable" in text
        assert "in a rule" in text
        assert "Q4 How good? good -1, 0, 1" in text
    text = words(author.get(at("question_edit", survey, last.pk)))
    assert "Q3 How much?" in text
    assert "Q4" not in text
    assert "this is the first question." in words(
        author.get(at("question_edit", survey, first(survey).pk))
    )


def test_an_answer_that_the_page_adds_is_not_an_option(author: Client, survey: Survey) -> None:
    posted = {**GOOD["several"], "options": "A\nnone of these"}
    page = author.post(new(survey, "several"), posted)
    assert page.status_code == 422
    assert "Line 2 says “None of these”, which the page offers anyway." in words(page)


def test_a_page_says_that_a_rule_was_dropped(author: Client, survey: Survey) -> None:
    parent = add(survey)
    question = add(survey, rule={"name": str(parent.pk), "is": [1]})
    address = f"{at('question_edit', survey, question.pk)}?type=declared"
    posted = {**GOOD["declared"], "confirmed": "on"}
    assert "The rule of the question was removed" in words(
        author.post(address, posted, follow=True)
    )
    question.refresh_from_db()
    assert question.rule is None


def test_a_draft_in_which_nothing_is_scrambled_says_so_in_its_preview(
    author: Client, survey: Survey
) -> None:
    assert "There are no questions yet" in words(author.get(at("preview", survey)))
    add(survey, "information", "Read this.")
    assert "No question is scrambled yet" in words(author.get(at("preview", survey)))


def test_the_cost_is_worked_out_and_nothing_is_stored(author: Client, survey: Survey) -> None:
    add(survey)
    posted = {**GOOD["choice"], "refusal": "on", "rule": "Q1 is yes", "cost": "1"}
    page = author.post(new(survey, "choice"), posted)
    assert page.status_code == 200
    text = words(page)
    assert "5 codes: 3 answers, “prefer not to say” and “not asked”" in text
    # 25 / (75 + 4 · 25)
    assert "Of every 100 people, 14.2 send each of the other answers’ codes." in text
    assert "one person gives away ε = 2.20 in the whole survey" in text
    assert survey.questions.count() == 1
    assert "A\nB\nC</textarea>" in page.text


@pytest.mark.parametrize("type_", ["scale", "choice"])
def test_a_wrong_rule_hides_the_cost_and_says_so(
    author: Client, survey: Survey, type_: str
) -> None:
    add(survey)
    posted = {**GOOD[type_], "rule": "foo", "cost": "1"}
    text = words(author.post(new(survey, type_), posted))
    assert "The numbers appear once you fix the problems above." in text
    assert "write the answers first" not in text
    # The number of answers is known, and any rule adds a code.
    codes = {"scale": 6, "choice": 4}[type_]
    assert describe_strength(25, symbols=codes).sentence in text
    assert "depends on the number of answers" not in text


def test_switches_show_their_cost_before_they_are_used(author: Client, survey: Survey) -> None:
    text = words(author.get(new(survey, "yes_no")))
    # docs/methods, "Refusals"
    assert "takes more people: about 2,604 instead of 1,913 for ±5 points" in text
    assert "“Prefer not to say” takes more people" in text
    assert "A rule takes more people" in text


def test_a_follow_up_after_yes_can_be_packed_into_one_code(author: Client, survey: Survey) -> None:
    parent = add(survey, text="Ever & ever?")
    posted = {"text": "And last year?", "flips": "25", "rule": "Q1 is yes", "cost": "1"}
    page = author.post(new(survey, "yes_no"), posted)
    text = words(page)
    # docs/methods, "Follow-ups": .0585 apart and .031 packed, at the same total of 2 ln 3
    assert "its standard error would be 3.1 points instead of 5.8" in text
    link = re.search(r'href="([^"]+)">Ask both as one question', page.text)
    assert link is not None
    target = unescape(link[1])
    assert urlsplit(target).path == at("question_edit", survey, parent.pk)
    assert parse_qs(urlsplit(target).query) == {
        "type": ["follow_up"],
        "text": ["Ever & ever?"],
        "follow_up": ["And last year?"],
        "flips": ["10"],
    }
    form = author.get(target).text
    assert re.search(r'value="10"[^>]* checked', form)
    assert "And last year?" in form
    author.post(target, {"text": "Ever & ever?", "follow_up": "And last year?", "flips": "10"})
    parent.refresh_from_db()
    assert (parent.type, parent.follow_up, parent.flips) == ("follow_up", "And last year?", 10)


def test_a_stored_follow_up_can_be_replaced_by_one_new_question(
    author: Client, survey: Survey
) -> None:
    parent = add(survey, text="Ever?")
    add(survey, text="Last year?", rule={"name": str(parent.pk), "is": [1]})
    page = author.get(at("questions", survey))
    assert "Ask both as one question , then delete this question and question 1" in words(page)
    assert f"{at('question_create', survey)}?type=follow_up" in page.text


@pytest.mark.parametrize(
    "rule", ["Q1 is no", "not Q1 is no", "Q1 is yes and Q2 is yes", "Q2 is yes"]
)
def test_packing_is_not_offered_for_other_rules(author: Client, survey: Survey, rule: str) -> None:
    add(survey)
    add(survey, refusal=True)
    posted = {"text": "Then?", "flips": "25", "rule": rule, "cost": "1"}
    assert "one question with a follow-up" not in words(author.post(new(survey, "yes_no"), posted))


@pytest.fixture
def everything(survey: Survey) -> Survey:
    q1 = add(survey, text="Ever?")
    add(survey, "choice", "Which?", options=["Bus", HTML], refusal=True)
    add(survey, "scale", "How good?", minimum=-1, maximum=5, low_label="bad", high_label=HTML)
    q4 = add(survey, "several", "Which ones?", options=["Cat", "Dog", "Cow"], limit=1)
    rule = {"all": [{"name": str(q1.pk), "is": [1]}, {"not": {"name": f"{q4.pk}_2", "is": [1]}}]}
    add(survey, "number", "How much?", minimum=0, maximum=1000, unit="euros", rule=rule)
    add(survey, "follow_up", "Again?", follow_up="And then?")
    add(survey, "declared", "Where?", options=["North", "South"])
    add(survey, "information", "Nearly done.", rule={"name": str(q1.pk), "is": [1]})
    return survey


SHOWN = (
    "Bus",
    HTML,
    "From −1 (“bad”) to 5 (“<img src=x onerror=alert(1)>”).",
    "Choose at most 1.",
    "“Prefer not to say” is offered.",
    "A whole number from 0 to 1,000 euros.",
    "Asked only if Q1 is “Yes” and not (Q4 has “Dog”).",
    "After Yes: And then?",
    "Not scrambled",
    "Shown only if Q1 is “Yes”.",
    "Q5 depends on this question and also reveals something about it: together ε = 2.20.",
)


def test_all_types_are_shown_correctly_before_and_after_opening(
    author: Client, everything: Survey
) -> None:
    pages = [author.get(at("questions", everything)), author.get(at("launch", everything))]
    open_survey(survey=everything)
    pages.append(author.get(at("questions", everything)))
    for page in pages:
        assert "<img" not in page.text
        text = unescape(" ".join(re.sub(r"<(?!img)[^>]+>", " ", page.text).split()))
        for sentence in SHOWN:
            assert sentence in text, sentence


def test_each_question_leads_to_the_planner_with_its_own_codes(
    author: Client, everything: Survey
) -> None:
    page = author.get(at("questions", everything)).text
    plans = [
        unescape(query)
        for query in re.findall(r'/plan\?([^"]+)">Plan(?: the share of No)? <span', page)
    ]
    assert plans == [
        "questions=1&flips=25&closing=watched",
        "questions=1&flips=25&refusing=5&closing=watched",
        "questions=1&flips=25&options=7&closing=watched",
        "questions=2&flips=25&closing=watched",
        "questions=1&flips=25&figure=mean&share=50&asked=50&decided=0-0-0&closing=watched",
        "questions=1&flips=25&share=80&options=3&closing=watched",
    ]
    for query in plans:
        assert author.get(f"{reverse('surveys:plan')}?{query}").status_code == 200


def test_a_copy_of_everything_is_a_draft_of_everything(author: Client, everything: Survey) -> None:
    open_survey(survey=everything)
    author.post(at("copy", everything))
    copied = Survey.objects.exclude(pk=everything.pk).get()
    page = words(author.get(at("questions", copied)))
    assert "Asked only if Q1 is “Yes” and not (Q4 has “Dog”)." in page
    assert [q.type for q in copied.questions.all()] == [q.type for q in everything.questions.all()]


def settings_of(drawn: str) -> dict[str, object]:
    return {"publication": "none", "drawn": drawn}


def test_a_random_subset_is_chosen_next_to_its_cost(author: Client, everything: Survey) -> None:
    text = words(author.get(at("settings_page", everything, "privacy")))
    # Questions 1, 4 and 5 are tied by a rule into one block; 2, 3 and 6 are separate.
    assert "Blocks drawn, of 4" in text
    assert "1 4.40 25 % nobody" in text  # ln 3 for Q1, Q5 and each of two options of Q4
    assert "2 5.50 50 % 16.7 %" in text
    assert "Q1, Q4, Q5" in text
    author.post(at("settings_page", everything, "privacy"), settings_of("1"))
    text = words(author.get(at("edit", everything)))
    assert "Each person is asked 1 of 4 blocks, drawn at random" in text
    assert "questions from different blocks cannot be compared at all" in text
    assert "ε = 4.40" in text


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        ("4", "The questions form 4 blocks. Enter a whole number from 1 to 3, or leave it empty"),
        ("0", "Enter a whole number from 1 to 100. Or leave it empty."),
        ("all", "Enter a whole number from 1 to 100."),
    ],
)
def test_a_subset_of_an_invalid_size_is_refused(
    author: Client, everything: Survey, drawn: str, message: str
) -> None:
    page = author.post(at("settings_page", everything, "privacy"), settings_of(drawn))
    assert page.status_code == 422
    assert message in words(page)
    everything.refresh_from_db()
    assert everything.drawn is None


def test_a_subset_cannot_be_drawn_from_one_block(author: Client, survey: Survey) -> None:
    add(survey)
    assert "nothing to draw from yet" in words(author.get(at("settings_page", survey, "privacy")))
    page = author.post(at("settings_page", survey, "privacy"), settings_of("1"))
    assert "There is nothing to draw from" in words(page)


def test_a_subset_that_became_the_whole_is_reported_before_opening(
    author: Client, everything: Survey
) -> None:
    everything.drawn = 3
    everything.save()
    pk = everything.questions.get(type="scale").pk
    assert delete(author, everything, pk).status_code == 302
    page = author.get(at("edit", everything))
    assert "You chose to ask each person 3 of 3 blocks" in words(page)
    assert author.get(at("launch", everything)).status_code == 200
    assert author.get(at("preview", everything)).status_code == 200


@pytest.mark.long
def test_a_hundred_questions_with_rules_are_shown_with_few_queries(
    author: Client, survey: Survey, django_assert_max_num_queries: Any
) -> None:
    parent = add(survey)
    Question.objects.bulk_create(
        Question(
            survey=survey,
            position=number,
            text="Q?",
            refusal=True,
            rule={"name": str(parent.pk), "is": [number % 2]},
        )
        for number in range(2, 101)
    )
    for name in ("questions", "edit"):
        with django_assert_max_num_queries(18):
            page = author.get(at(name, survey))
        assert page.status_code == 200
    assert "exceed a total ε of 20" in words(page)
    last = survey.questions.get(position=100)
    assert author.get(at("question_edit", survey, last.pk)).status_code == 200
    assert author.post(at("question_move", survey, last.pk), {"direction": "up"}).status_code == 302


def test_waves_of_one_survey_are_added_up(author: Client, survey: Survey) -> None:
    add(survey)
    wave = open_survey(survey=survey)
    assert "in all" not in words(author.get(at("settings_page", survey, "privacy")))
    content = bytes(wave.manifest).replace(b'"wave":1', b'"wave":2')
    Wave.objects.create(
        survey=survey,
        number=2,
        manifest=content,
        manifest_hash=hash_manifest(content),
        minimum_batch=10,
        display_minimum=10,
    )
    text = words(author.get(at("settings_page", survey, "privacy")))
    assert "A person who answers all 2 waves of this survey reveals ε = 2.20 ." in text


def test_a_draft_is_planned_by_the_question_that_needs_the_most_people(
    author: Client, everything: Survey
) -> None:
    page = author.get(at("edit", everything)).text
    [query] = re.findall(r'id="plan" href="/plan\?([^"]+)"', page)
    # Seven codes of one person can differ: those of two options, and one for each other question.
    assert unescape(query) == (
        "questions=7&flips=25&figure=mean&share=50&asked=50&decided=0-0-0&closing=watched"
    )
    everything.drawn, everything.cap = 2, 1000
    everything.save()
    page = author.get(at("edit", everything)).text
    [query] = re.findall(r'id="plan" href="/plan\?([^"]+)"', page)
    # The two largest blocks have four codes and one; each question is asked of half the people.
    assert unescape(query) == (
        "questions=5&flips=25&figure=mean&share=50&asked=50&decided=0-0-0"
        "&closing=fixed&people=1000&part=50"
    )
    plan = words(author.get(f"{reverse('surveys:plan')}?{unescape(query)}"))
    assert "50 % of the people get the question" in plan
    assert "nothing would be sealed" not in plan
