"""The results page and its panel: their content, their readers, and when they change."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.batches.sealing import seal_next_batch
from aggregator.results.blocks import Block, list_blocks
from aggregator.results.display import find_view
from aggregator.results.sentences import (
    AT_CAP,
    CAUTION,
    CLOSED_EARLY,
    CLOSED_WITHOUT_END,
    FIXED_END,
    WATCHED,
)
from aggregator.results.sentences import TOO_FEW as TOO_FEW_ANSWERS
from aggregator.simulation.demo_surveys import REDBOOK
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Survey, Wave
from tests.support.factories import (
    QUESTIONS,
    make_launched_survey,
    make_survey,
    make_user,
    open_survey,
)
from tests.support.fielding import field, process, send_codes, send_people, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
TOO_FEW = "Too few responses to show"


def read(survey: Survey, name: str = "results", **options: Any) -> Any:
    return sign_in(survey.owner).get(reverse(f"aggregator:{name}", args=[survey.slug]), **options)


def test_every_estimate_comes_with_its_interval_and_effective_sample_size() -> None:
    survey = field(make_launched_survey(), yes=[490, 700], total=1400)
    words = text_of(read(survey))
    # 2 · 490/1400 − ½ = 20 %, and .2 · .8 / Var gives the number of direct answers: 246.
    assert re.search(r"Yes 20 % \(\d+–\d+\) ", words)
    assert "1,400 reports. As informative as about 246 direct answers." in words
    assert "Yes 490 35.0 % " in words
    assert words.count("How the interval is computed") == 2


@pytest.mark.parametrize(
    ("ending", "reason"), [(Wave.Ending.DATE, FIXED_END), (Wave.Ending.CAP, AT_CAP)]
)
def test_a_survey_that_ended_as_fixed_says_once_when_its_intervals_are_valid(
    ending: Wave.Ending, reason: str
) -> None:
    wave = make_launched_survey(cap=200)
    survey = field(wave, yes=[80, 100], total=200, ending=ending)
    words = text_of(read(survey))
    assert words.count(reason) == 1
    assert sum(other in words for other in (AT_CAP, FIXED_END, WATCHED)) == 1
    assert "50 % interval" in words


@pytest.mark.parametrize(("cap", "reason"), [(1000, CLOSED_EARLY), (None, CLOSED_WITHOUT_END)])
def test_closing_by_hand_keeps_the_wide_interval_and_says_why(cap: int | None, reason: str) -> None:
    wave = make_launched_survey(cap=cap)
    survey = field(wave, yes=[80, 100], total=200, ending=Wave.Ending.OWNER)
    words = text_of(read(survey))
    assert words.count(reason) == 1
    told = "before its fixed end: 1,000 people. It was closed at 200 reports."
    assert (told in words) == bool(cap)
    assert sum(other in words for other in (AT_CAP, FIXED_END, WATCHED)) == 0


def test_a_closed_survey_invites_nobody_to_wait_or_to_close_it() -> None:
    """For Q1, every share is plausible; the result for Q2 is clear."""
    wave = make_launched_survey()
    survey = field(wave, yes=[15, 30], total=30)
    words = text_of(read(survey))
    assert TOO_FEW_ANSWERS in words
    for phrase in (r"\byet\b", "while you watch", "whenever you like", "wait for"):
        assert re.search(phrase, words) is None, phrase


def test_an_open_survey_says_that_its_intervals_are_valid_while_you_watch() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[40, 50], total=200)
    process(wave)
    words = text_of(read(wave.survey))
    assert words.count(WATCHED) == 1
    # Intervals that hold at every look have no inner intervals.
    for level in ("50 %", "80 %"):
        assert f"{level} interval" not in words


def test_nothing_is_said_about_a_value_that_is_not_shown() -> None:
    """With few codes, every share is plausible, and the estimate is above 100 % by chance."""
    survey = field(make_launched_survey(flips=45), yes=[18, 15], total=30)
    words = text_of(read(survey))
    assert TOO_FEW_ANSWERS in words
    assert "% is shown" not in words


def test_a_value_that_is_written_as_100_percent_is_not_called_above_it() -> None:
    survey = field(make_launched_survey(), yes=[3751, 1250], total=5000)
    words = text_of(read(survey))
    assert re.search(r"Yes 100(\.0)? % \(", words)


def test_a_figure_is_rounded_alike_everywhere() -> None:
    # 2 · .4824 − ½ = 46.48 %
    survey = field(make_launched_survey(), yes=[2412, 100], total=5000)
    words = text_of(read(survey))
    assert "Yes 46 % (" in words
    assert "46.5 %" not in words


def test_an_estimate_outside_0_to_100_is_clipped_on_the_page() -> None:
    survey = field(make_launched_survey(), yes=[240, 500], total=1000)
    words = text_of(read(survey))
    assert re.search(r"Yes 0 % \(0–\d+\)", words)
    assert "Unclipped" in words
    assert "−2 %" in words  # in the details


def test_an_estimate_that_needs_caution_has_a_mark_that_is_explained() -> None:
    """An estimate of 50 % from 200 reports has a margin of ±25 points while anybody may look."""
    survey = field(make_launched_survey(), yes=[100, 700], total=200)
    words = text_of(read(survey))
    assert "50 % †" in words
    assert CAUTION in words
    clear = field(make_launched_survey(), yes=[490, 700], total=1400)
    assert "†" not in text_of(read(clear))


def test_what_too_few_reports_say_has_no_value_no_interval_and_no_method() -> None:
    survey = field(make_launched_survey(flips=45), yes=[60, 60], total=100)
    response = read(survey)
    words = text_of(response)
    assert words.count(TOO_FEW_ANSWERS) == 2
    assert words.count(" 100 reports. ") == 2
    assert "interval is computed" not in words
    assert "fake" not in words
    page = response.content.decode()
    assert 'class="dot"' not in page
    assert page.count('class="unknown"') == 2


def test_codes_that_contradict_the_design_are_reported_as_such() -> None:
    survey = field(make_launched_survey(), yes=[1000, 500], total=1000)
    words = text_of(read(survey))
    assert "The reports contradict the design of this question." in words
    assert "150.0" not in words  # only files contain the estimate


@pytest.mark.parametrize("name", ["results", "results_panel"])
def test_below_the_display_minimum_nothing_is_shown(name: str) -> None:
    survey = field(make_launched_survey(display_minimum=1000), yes=[613, 471], total=987)
    response = read(survey, name)
    words = re.sub("[0-9a-f]{64}", "the manifest's hash", text_of(response))
    words = words.replace("987 sealed reports", "")  # the head
    assert TOO_FEW in words
    for figure in ("Raw share", "stimate", "987", "613", "471", "Download"):
        assert figure not in words, figure


def test_the_frozen_settings_are_on_the_page() -> None:
    wave = make_launched_survey(cap=200, display_minimum=123)
    survey = field(wave, yes=[80, 100], total=200, ending=Wave.Ending.CAP)
    response = read(survey)
    words = text_of(response)
    assert f'href="/m/{wave.manifest_hash_hex}.json"' in response.content.decode()
    assert "Smallest batch (K) 10 reports" in words
    assert "Results need 123 sealed reports" in words
    # Two questions of ln 3 each: 1.0987 and 2.1973, never rounded down.
    assert "2.20 Q1: 1.10 (25 flips of 100)" in words


def test_questions_with_more_codes_name_only_their_strength() -> None:
    survey = make_survey()
    options = ["By bus", "By car", "On foot"]
    add_question(survey=survey, text="How?", type=Question.Type.CHOICE, options=options)
    add_question(survey=survey, text="Which?", type=Question.Type.SEVERAL, options=options)
    open_survey(survey=survey)
    words = text_of(read(survey))
    assert "Q2: 1.10 (25 flips of 100) Q3: 1.10 (as strong as 25 flips of 100)" in words
    assert "Q4: 3.30 (25 flips of 100)" in words


def test_a_draft_says_that_it_is_not_open() -> None:
    assert "Not opened yet" in text_of(read(make_survey()))


def test_an_open_survey_without_a_batch_polls() -> None:
    wave = make_launched_survey(owner=make_user("owner@example.org"))
    send_codes(wave, yes=[3, 3], total=7)
    words = text_of(read(wave.survey))
    assert "Waiting for answers" in words
    assert "in batches of at least 10, so that no single person stands out." in words
    assert "first results appear after 40 reports (10 are kept back while the survey" in words
    assert "7" not in words.replace(wave.manifest_hash_hex, "")


def test_the_first_results_are_promised_for_the_display_minimum() -> None:
    words = text_of(read(make_launched_survey(display_minimum=50).survey))
    assert "The first results appear after 60 reports" in words  # ten of them wait
    assert "Results appear after 60 reports." in words  # the head says the same


def test_a_survey_that_closed_below_the_display_minimum_promises_nothing() -> None:
    survey = field(make_launched_survey(display_minimum=1000), yes=[8, 9], total=20)
    words = text_of(read(survey))
    assert "closed with fewer than the 1,000 sealed reports that results need" in words
    assert "Results appear after" not in words


def test_a_survey_that_closed_empty_says_so() -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert "No reports came" in text_of(read(wave.survey))


def test_a_survey_closed_below_the_minimum_batch_says_what_happened() -> None:
    survey = field(make_launched_survey(), yes=[3, 3], total=9)
    words = text_of(read(survey))
    assert "fewer than 10 reports" in words
    assert "so the reports were deleted." in words


def test_a_closed_survey_with_waiting_reports_says_that_it_is_being_counted() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[3, 3], total=15)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert "being counted" in text_of(read(wave.survey))


def test_html_in_text_is_shown_as_text() -> None:
    wave = make_launched_survey(
        title="<script>alert(1)</script>", questions=["</script><b>bold</b>?"]
    )
    page = read(field(wave, yes=[80], total=200)).content.decode()
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    assert page.count("</script>") == page.count("<script")


def test_only_the_demo_shows_the_true_values() -> None:
    wave = make_launched_survey(questions=["a?", "b?", "c?", "d?"])
    survey = field(wave, yes=[90, 80, 100, 110], total=200)
    assert "known truth" not in text_of(read(survey))
    Survey.objects.filter(pk=survey.pk).update(demo=True, title=REDBOOK.title)
    words = text_of(read(Survey.objects.get(pk=survey.pk)))
    assert "These figures were published in 1978" in words
    # The figures are rounded like the estimates beside them.
    for share in ("32 %", "23 %", "48 %", "62 %"):
        assert re.search(rf"Known truth .*Yes {share} ", words)
    assert words.count("Known truth") == 4


def panel(survey: Survey, seen: str) -> Any:
    return read(survey, "results_panel", query_params={"seen": seen})


def test_the_panel_answers_204_until_a_batch_is_sealed() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[40, 50], total=100)
    process(wave)
    seen = find_view(wave.survey).seen
    assert panel(wave.survey, seen).status_code == 204
    send_codes(wave, yes=[3, 3], total=9)
    assert panel(wave.survey, seen).status_code == 204
    send_codes(wave, yes=[3, 3], total=9)
    process(wave)
    response = panel(wave.survey, seen)
    assert response.status_code == 200
    assert 'hx-swap-oob="true"' in response.content.decode()
    assert find_view(wave.survey).seen in response.content.decode()


def test_the_panel_stops_polling_once_everything_is_final() -> None:
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    response = panel(survey, find_view(survey).seen)
    assert response.status_code == 286
    assert "hx-get" not in response.content.decode()
    assert "hx-get" not in read(survey).content.decode()


def test_a_panel_without_a_session_sends_the_whole_page_to_sign_in() -> None:
    wave = make_launched_survey()
    address = reverse("aggregator:results_panel", args=[wave.survey.slug])
    response = Client().get(address, headers={"HX-Request": "true"})
    assert response["HX-Refresh"] == "true"
    assert b"<form" not in response.content
    # Text that was typed into a form must stay.
    assert "HX-Refresh" not in Client().post(address, headers={"HX-Request": "true"})


def test_blocks_are_rendered_once_for_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = []

    def count(*given: Any, **named: Any) -> list[Block]:
        rendered.append(given)
        return list_blocks(*given, **named)

    monkeypatch.setattr("aggregator.results.rendered_blocks.list_blocks", count)
    wave = make_launched_survey(flips=5)  # makes 100 reports enough to show a share
    for looks, (yes, share) in enumerate([(50, r"[45]\d"), (1000, r"(9\d|100)")], start=1):
        send_codes(wave, yes=[yes, yes], total=100 if looks == 1 else 1000)
        process(wave)
        pages = [text_of(read(wave.survey)) for _ in range(3)]
        assert len(rendered) == looks
        assert all(re.search(rf"Yes {share}(\.\d)? %", page) for page in pages)
    other = field(make_launched_survey(), yes=[50, 50], total=100)
    read(other)
    assert len(rendered) == 3
    monkeypatch.setattr("aggregator.results.rendered_blocks._MOST_CHARACTERS", 1)
    another = field(make_launched_survey(), yes=[50, 50], total=100)
    for survey in (another, another, other):  # the cache has no room for any
        read(survey)
    assert len(rendered) == 6


NAMES = [
    "results",
    "results_panel",
    "reports_csv",
    "codebook_csv",
    "estimates_csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_results_of_other_owners_are_not_found_and_visitors_must_sign_in(name: str) -> None:
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    address = reverse(f"aggregator:{name}", args=[survey.slug])
    assert sign_in(make_user()).get(address).status_code == 404
    visitor = Client().get(address)
    assert visitor.status_code == 302
    assert visitor["Location"] == f"{reverse('account_login')}?next={address}"


@pytest.mark.parametrize("questions", [1, 40])
def test_the_number_of_queries_does_not_grow_with_the_questions(
    questions: int, django_assert_num_queries: Any
) -> None:
    # Forty questions need stronger flips to stay below the largest total epsilon.
    wave = make_launched_survey(
        questions=[f"{QUESTIONS[0]} {n}" for n in range(questions)], flips=40
    )
    survey = field(wave, yes=[90] * questions, total=200)
    client = sign_in(survey.owner)
    client.get(reverse("aggregator:results", args=[survey.slug]))  # the first look of the day
    # Session, user, survey, wave, snapshot, the head, and whether a look is in the history.
    for name in ("results", "results_panel"):
        with django_assert_num_queries(8):
            client.get(reverse(f"aggregator:{name}", args=[survey.slug]))


def test_results_that_an_earlier_version_stored_otherwise_are_announced() -> None:
    """A sweep computes them again; until then the page must not say that no report came."""
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    survey.waves.get().snapshots.update(estimates=[{"figure": "1"}])
    words = text_of(read(survey))
    assert "Results are being computed again" in words
    assert "Waiting for answers" not in words


@pytest.mark.parametrize("rehearsal", [False, True])
def test_reports_that_came_at_once_are_told_at_the_next_look(rehearsal: bool) -> None:
    wave = make_launched_survey(minimum_batch=50, display_minimum=50)
    Survey.objects.filter(pk=wave.survey_id).update(rehearsal=rehearsal)
    for total in (100, 90, 60):
        send_codes(wave, yes=[20, 30], total=total)
        process(wave)
    assert find_view(wave.survey).results is not None
    assert 'id="burst"' not in read(wave.survey).content.decode()

    send_codes(wave, yes=[100, 200], total=400)
    seal_next_batch(wave_id=wave.pk)
    assert 'id="burst"' not in read(wave.survey).content.decode()  # sealed, but no look yet
    process(wave)
    shown = text_of(read(wave.survey))
    told = "At least 350 of these 600 reports came within seconds of many others."
    assert (told in shown) is not rehearsal
    api = sign_in(wave.survey.owner).get(reverse("aggregator:api_results", args=[wave.survey.slug]))
    assert api.json()["burst_reports"] == 350


def test_a_question_whose_rule_is_too_large_to_use_says_so() -> None:
    survey = make_survey(questions=())
    earlier = [
        add_question(
            survey=survey, type=Question.Type.CHOICE, text=f"Fact {number}?", options=list("abcd")
        )
        for number in range(3)
    ]
    # The rule distinguishes each option of three questions: 64 combinations.
    every = [{"name": str(one.pk), "is": [code]} for one in earlier for code in range(3)]
    rules: list[dict[str, Any]] = [every[0], {"any": every}]
    for number, rule in enumerate(rules):
        add_question(survey=survey, text=f"Behind {number}?", rule=rule)
    wave = open_survey(survey=survey)
    send_people(wave, people=60)
    process(wave)
    text = text_of(read(survey))
    assert text.count("This question’s rule depends on too many answers") == 1
    assert "too many answers" in text[text.index("Behind 1?") :]
