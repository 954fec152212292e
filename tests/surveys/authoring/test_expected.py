"""± for the author's number of people: the same figure on cards, overview, launch page and plan."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring.forms import PlanForm
from surveys.models import Question, Survey
from surveys.planning.expected import describe_margin, list_figures
from surveys.planning.planner import Plan
from surveys.planning.planner_links import plan_for_question
from tests.support.drafts import make_random, manifest_of
from tests.support.factories import make_survey
from tests.support.fielding import at, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Told = dict[str, tuple[str, str]]  # precision and reason why it is hidden, by figure


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def read_summary(page: str) -> tuple[Told, list[str]]:
    """Read the section with all figures, and list the precisions in the order of the section."""
    [section] = re.findall(r'<section class="card" id="expected".*?</section>', page, re.DOTALL)
    [common] = re.findall(r'<p class="warn"><strong>(.*?)\.</strong>', section) or [""]
    rows = re.findall(r'<dt class="number">(.*?)</dt>\s*<dd>(.*?)</dd>', section, re.DOTALL)
    told: Told = {}
    for precision, cell in rows:
        names, _, hidden = words(cell).partition(" not shown")
        reason = f"not shown{hidden}" if hidden else common[:1].lower() + common[1:]
        told |= dict.fromkeys(list_names(names), (precision, reason))
    return told, [precision for precision, _ in rows]


def list_names(text: str) -> Iterable[str]:
    for part in re.split(r", | and ", text):
        numbers = [int(number) for number in re.findall(r"\d+", part)]
        after = " follow-up" if "follow-up" in part else ""
        yield from (f"Q{number}{after}" for number in range(numbers[0], numbers[-1] + 1))


def read_cards(page: str, mark: str) -> Told:
    """Read the figures on the cards; `mark` begins a card and captures the number of the card."""
    _, *parts = re.split(mark, page)
    told: Told = {}
    for number, card in zip(parts[::2], parts[1::2], strict=True):
        for text in map(words, re.findall(r"<span>(.*?)</span>\n", card.split("<details")[0])):
            found = re.match(r"(follow-up )?(±.+?|any value)( with your .*?)?(, not .*)?$", text)
            if found:
                name = f"Q{number}{' follow-up' if found[1] else ''}"
                told[name] = (found[2], (found[4] or "").removeprefix(", "))
    return told


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 10), marks=pytest.mark.long)])
def test_cards_overview_launch_and_plan_agree_to_the_digit(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        survey = make_random(seed)
        manifest, author = manifest_of(survey), sign_in(survey.owner)
        overview, cards, launch = (
            author.get(at(name, survey)).text for name in ("edit", "questions", "launch")
        )
        people = manifest.people_planned
        if people is None:
            assert all('id="expected"' not in page for page in (overview, launch))
            continue
        figures = list_figures(manifest, people=people)
        told = {one.name: (one.precision, one.hidden) for one in figures}
        assert read_summary(overview) == read_summary(launch)
        assert read_summary(overview)[0] == told
        assert read_cards(cards, r'<span class="visually-hidden">Question</span> (\d+)') == told
        assert read_cards(launch, r'<li value="(\d+)">') == told
        for one in figures:
            query = plan_for_question(manifest, one.question)
            if query and not one.is_follow_up:
                form = PlanForm.from_query({key: str(value) for key, value in query.items()})
                assert form.is_valid()
                planned = describe_margin(one.question, Plan(given=form.read()).margin)
                assert planned == one.precision, (seed, one.name)
                compared += 1
    assert compared > 10 * len(seeds) / 2


def summary(author: Client, survey: Survey) -> tuple[Told, list[str]]:
    return read_summary(author.get(at("edit", survey)).text)


def test_the_least_precise_figure_stands_first(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, people_expected=2_000, flips=20)
    follow_up = {"type": Question.Type.FOLLOW_UP, "follow_up": "Still?"}
    survey.questions.create(text="Ever?", position=3, flips=20, **follow_up)
    told, order = summary(author, survey)
    assert list(told) == ["Q3 follow-up", "Q3", "Q1", "Q2"]
    assert order == sorted(order, key=lambda text: -float(text[1:].split()[0]))


@pytest.mark.parametrize(
    ("people", "drawn", "flips", "hidden"),
    [
        (299, None, 25, "not shown: results need 300 people"),
        (300, None, 25, ""),
        (599, 1, 10, ""),  # 299.5 count as 300
        (598, 1, 10, "not shown: about 299 get it, but results need 300"),
        (600, 1, 10, ""),
        (400, None, 42, "not shown: too imprecise"),
    ],
)
def test_figures_that_results_would_hide_are_marked(
    author: Client, owner: User, people: int, drawn: int | None, flips: int, hidden: str
) -> None:
    survey = make_survey(
        owner=owner, people_expected=people, drawn=drawn, flips=flips, minimum_batch=100,
        display_minimum=100,
    )  # fmt: skip
    told, _ = summary(author, survey)
    assert {reason for _, reason in told.values()} == {hidden}


def test_an_unknown_number_of_people_is_asked_for(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    page = author.get(at("edit", survey)).text
    assert "#id_people_expected" in page
    survey.people_expected = 500
    survey.save()
    assert "Are there enough people?" not in author.get(at("edit", survey)).text
