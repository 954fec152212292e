"""The start page says who asks and how long it takes, and folds a long introduction."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from django.test import Client
from django.urls import reverse

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.scores import Output, ScoredItem
from surveys.models import Wave
from surveys.respondent.introduction import fold_introduction
from surveys.respondent.label.length import count_minutes, count_words, describe_length
from tests.support.factories import make_launched_survey
from tests.support.label import RULE, make, survey
from tests.support.scores import carry, draw_score

ITEMS = tuple(ScoredItem(text=f"Item {number}") for number in range(8))
EIGHT_ITEMS = carry(replace(draw_score(Random(1)), items=ITEMS), Output.TOTAL)


def asks(*questions: ManifestQuestion, drawn: int | None = None) -> Manifest:
    return replace(survey(*questions), drawn=drawn)


@pytest.mark.parametrize(
    ("questions", "drawn", "length"),
    [
        ([make("yes_no"), make("information")], None, "2 pages, about 1 minute"),
        ([make("yes_no"), make("declared")], None, "2 questions, about 1 minute"),
        ([make("yes_no"), make("yes_no", rule=RULE)], None, "Up to 2 pages, about 1 minute"),
        ([make("follow_up")], None, "Up to 2 pages, about 1 minute"),
        ([make("yes_no")] * 10, None, "10 questions, about 3 minutes"),
        # The block of the first question has two pages; everyone is asked the last one.
        (
            [make("yes_no"), make("yes_no", rule=RULE), make("yes_no"), make("declared")],
            1,
            "Up to 3 pages, about 1 minute",
        ),
        # Respondents get two rows on one page, or one row and the other question.
        (
            [make("yes_no"), make("yes_no", together=True), make("yes_no")],
            2,
            "Up to 2 pages, about 1 minute",
        ),
        # The drawn block can be a score of eight items.
        ([make("yes_no"), EIGHT_ITEMS], 1, "Up to 2 pages, about 2 minutes"),
    ],
    ids=["text", "declared", "rule", "follow-up", "ten", "subset", "rows", "score"],
)
def test_the_start_counts_what_the_pages_count_and_says_how_many_minutes(
    questions: list[ManifestQuestion], drawn: int | None, length: str
) -> None:
    assert describe_length(asks(*questions, drawn=drawn)) == length


def test_minutes_count_pages_and_words() -> None:
    silent = [make("yes_no", text="")] * 4  # with Yes and No, 8 words
    assert count_minutes(asks(*silent)) == 1  # 48 s and 2.4 s
    assert count_minutes(replace(asks(*silent), introduction="word " * 32)) == 1  # 60 s
    assert count_minutes(replace(asks(*silent), introduction="word " * 33)) == 2
    assert count_minutes(replace(asks(*silent), consent="word " * 200)) == 3  # 122.4 s


def test_words_without_spaces_are_counted_by_their_letters() -> None:
    assert count_words("we count these words") == 4
    assert count_words("夜晚很长，我们想知道") == 5 + 1  # ten letters and the comma
    assert count_words("") == 0


def test_an_introduction_is_cut_after_15_words_or_40_letters() -> None:
    words = [f"word{number}" for number in range(20)]
    short = fold_introduction(" ".join(words[:15]))
    assert (short.start, short.rest) == (" ".join(words[:15]), "")
    long = fold_introduction("\n".join(words))
    assert (long.start, long.rest) == ("\n".join(words[:15]), "\n".join(words[15:]))
    chinese = fold_introduction("夜" * 50)
    assert (len(chinese.start), len(chinese.rest)) == (40, 10)
    assert fold_introduction("").start == ""


def test_an_introduction_is_cut_after_a_sentence_if_one_ends_early_enough() -> None:
    found = fold_introduction(f"We ask 3.5 times a year. Why? {'Because we care. ' * 5}")
    assert (found.start[-16:], found.rest[:16]) == ("Because we care.", "Because we care.")
    chinese = fold_introduction("夜晚很长，我们想知道它的代价。" + "夜" * 40)
    assert chinese.start == "夜晚很长，我们想知道它的代价。"


@pytest.mark.django_db
def test_the_start_says_who_asks_and_until_when() -> None:
    closes = datetime(2100, 5, 31, 18, tzinfo=UTC)
    known = {"organization": "St <Anna>", "contact": "0800 555", "closes_at": closes}
    page = load_start(make_launched_survey(**known))
    assert '<p class="eyebrow" dir="auto">St &lt;Anna&gt;</p>' in page
    moment = '<time datetime="2100-05-31T18:00Z">31 May 2100, 18:00 UTC</time>'
    assert f'<p class="facts">2 questions, about 1 minute · until {moment}</p>' in page
    page = load_start(make_launched_survey())
    assert "eyebrow" not in page
    assert '<p class="facts">2 questions, about 1 minute</p>' in page


def load_start(wave: Wave) -> str:
    """Return the part of the page that comes before Start."""
    response = Client().get(reverse("surveys:respond", args=[wave.survey.slug]))
    return response.content.decode().partition('id="start"')[0]


@pytest.mark.django_db
def test_the_rest_of_an_introduction_is_one_tap_below() -> None:
    wave = make_launched_survey(introduction="word " * 60 + "the rest")
    before, _, after = load_start(wave).partition("<details><summary>Read on</summary>")
    assert "the rest" not in before
    assert after.index("the rest") < after.index("</details>")
