"""Groups that are sent as they are: counted exactly, and hidden where they are small."""

from __future__ import annotations

import csv
import io
import re
import secrets

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from aggregator.comparisons.choice import MERGED
from aggregator.exports.reports import find_rows
from aggregator.models import Comparison, RawReport
from aggregator.results.display import find_view
from aggregator.results.groups.small_groups import hide_small_groups
from privacy.associations.known_groups import compare_groups
from surveys.authoring.services import add_question, copy_survey
from surveys.comparing.choice import ALL_KNOWN, NotComparable
from surveys.comparing.indicators import find_indicators
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Manifest
from surveys.models import Question, Survey, Wave
from tests.support.comparisons import ask, compute
from tests.support.factories import open_survey
from tests.support.fielding import process, sign_in
from tests.support.reading import text_of

Kind = Comparison.Kind
MINIMUM = 100


@given(st.lists(st.integers(0, 400), min_size=2, max_size=8), st.integers(1, 200))
def test_no_small_group_is_shown_or_can_be_found_by_subtracting(
    counts: list[int], minimum: int
) -> None:
    hidden = hide_small_groups(counts, minimum=minimum)
    shown = set(range(len(counts))) - hidden
    assert all(counts[code] >= minimum or counts[code] == 0 for code in shown)
    together = sum(counts[code] for code in hidden)
    assert not hidden or together >= minimum or not shown
    assert not hidden or together > 0
    if all(count >= minimum for count in counts):
        assert not hidden


@pytest.fixture
def wave(db: None) -> Wave:
    owner = User.objects.create_user(email="groups@example.org")
    survey = Survey.objects.create_owned(
        owner, title="Groups", minimum_batch=30, display_minimum=MINIMUM
    )
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["Kitchen", "Ward", "Office"],
    )
    add_question(survey=survey, text="Did you ever work ill?")
    return open_survey(survey=survey)


def send(wave: Wave, groups: dict[int, int], yes: dict[int, int] | None = None) -> Survey:
    """Send each group's reports; `yes` states how many have code 1, by default half."""
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=bytes([group, number < ones]))
        for group, people in groups.items()
        for ones in [(yes or {}).get(group, people // 2)]
        for number in range(people)
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


def read_groups(survey: Survey) -> list[int | None]:
    results = find_view(survey).results
    assert results is not None
    [declared] = results.declared
    return [group.count for group in declared.groups]


def read_csv(survey: Survey) -> list[dict[str, str]]:
    results = find_view(survey).results
    assert results is not None
    text = b"".join(find_rows(results).stream()).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_large_groups_are_counted_exactly(wave: Wave) -> None:
    survey = send(wave, {0: 120, 1: 150, 2: 130})
    assert read_groups(survey) == [120, 150, 130]
    rows = read_csv(survey)
    assert [sum(row["work_a"] == str(code) for row in rows) for code in (1, 2, 3)] == [
        120,
        150,
        130,
    ]


@pytest.mark.usefixtures("static_files")
def test_groups_have_their_share_and_keep_their_place_among_the_questions(wave: Wave) -> None:
    survey = send(wave, {0: 120, 1: 150, 2: 130})
    response = sign_in(survey.owner).get(f"/surveys/{survey.slug}/results")
    words = text_of(response)
    for name, share, count in (("Kitchen", 30, 120), ("Ward", 38, 150), ("Office", 32, 130)):
        assert re.search(rf"{name} {share} % \(\d+–\d+\)", words)
        assert f"{name} {count} " in words  # under "How sure is this?"
    assert "400 reports." in words
    page = response.content.decode()
    assert page.index('id="q1"') < page.index('id="q2"')


@pytest.mark.usefixtures("static_files")
def test_a_small_group_is_hidden_with_the_next_one_everywhere(wave: Wave) -> None:
    survey = send(wave, {0: 3, 1: 150, 2: 130})
    assert read_groups(survey) == [None, 150, None]
    rows = read_csv(survey)
    assert sum(row["work_a"] == "2" for row in rows) == 150
    hidden = [row for row in rows if row["work_a"] != "2"]
    assert {row["work_a"] for row in hidden} == {"-99"}
    # The order of the hidden rows does not distinguish the two groups.
    codes = [row["work_ill_rnd"] for row in hidden]
    assert codes == sorted(codes)
    client = sign_in(survey.owner)
    page = client.get(f"/surveys/{survey.slug}/results").content.decode()
    assert page.count("not shown") == 3  # twice, and in the sentence that explains it
    assert "Sent unscrambled, so exact for those who took part." in page
    answer = client.get(f"/api/surveys/{survey.slug}/results").json()
    assert [group["n"] for group in answer["declared"][0]["groups"]] == [None, 150, None]
    # Only comparisons divide the scrambled question by groups.
    assert [question["name"] for question in answer["questions"]] == ["work_ill"]
    choices = client.get(f"/surveys/{survey.slug}/compare").content.decode()
    assert 'value="q1.1"' in choices
    assert 'value="q1.0"' not in choices
    assert 'value="q1.2"' not in choices


@pytest.fixture
def declinable(wave: Wave) -> Wave:
    survey = copy_survey(survey=wave.survey)
    survey.questions.filter(type=Question.Type.DECLARED).update(refusal=True)
    return open_survey(survey=survey)


@pytest.mark.usefixtures("static_files")
def test_those_who_decline_are_a_cell_of_their_own(declinable: Wave) -> None:
    assert declinable.description.questions[0].k == 4
    survey = send(declinable, {0: 120, 1: 150, 2: 130, 3: 110})
    assert read_groups(survey) == [120, 150, 130, 110]
    page = text_of(sign_in(survey.owner).get(f"/surveys/{survey.slug}/results"))
    assert "Prefer not to say 110" in page


def test_few_who_decline_are_hidden_like_a_small_group(declinable: Wave) -> None:
    assert read_groups(send(declinable, {0: 120, 1: 150, 2: 130, 3: 2})) == [None, 150, 130, None]


def test_those_who_decline_are_among_the_others(declinable: Wave) -> None:
    send(declinable, {0: 120, 1: 150, 2: 130, 3: 110}, yes={0: 80, 1: 60, 2: 50, 3: 110})
    found = compute(ask(declinable, Kind.TABLE, "q2", "q1.0")).result
    assert found is not None
    assert found["share_first"]["raw"] == pytest.approx(2 * 80 / 120 - 0.5, abs=1e-8)
    assert found["share_second"]["raw"] == pytest.approx(2 * 220 / 390 - 0.5, abs=1e-8)


@pytest.mark.parametrize("names", [("q2", "q1.1"), ("q1.1", "q2")])
def test_no_comparison_shows_how_many_of_a_hidden_few_declined(
    declinable: Wave, names: tuple[str, str]
) -> None:
    send(declinable, {0: 120, 1: 150, 2: 130, 3: 2})  # hidden: those who declined, and group 0
    found = compute(ask(declinable, Kind.TABLE, *names))
    assert found.result is not None
    counts = np.array(found.result["counts"])
    sums = {*counts.sum(axis=0).tolist(), *counts.sum(axis=1).tolist()}
    assert {150, 252} <= sums
    assert not sums & {2, 120, 122}


def test_groups_are_compared_as_two_known_ones_would_be(wave: Wave) -> None:
    send(wave, {0: 120, 1: 150, 2: 130}, yes={0: 80, 1: 60, 2: 50})
    found = compute(ask(wave, Kind.TABLE, "q2", "q1.0")).result
    assert found is not None
    [kitchen, others] = [found["share_first"], found["share_second"]]
    mechanism = wave.description.questions[1].mechanism
    known = compare_groups(successes=[80, 110], totals=[120, 280], mechanisms=[mechanism] * 2)
    assert kitchen["raw"] == pytest.approx(2 * 80 / 120 - 0.5, abs=1e-8)
    assert others["raw"] == pytest.approx(2 * 110 / 280 - 0.5, abs=1e-8)
    assert found["difference"]["raw"] == pytest.approx(known.difference, abs=1e-8)
    assert found["difference"]["standard_error"] == pytest.approx(known.standard_error, abs=1e-8)
    # Two methods agree: the likelihood here, and Pearson's and Newcombe's methods in `known`.
    assert found["test"]["p_value"] == pytest.approx(known.test.p_value, rel=0.2)
    assert found["difference"]["level"] == 0.95
    assert found["difference"]["low"] == pytest.approx(known.low, abs=0.03)
    assert found["difference"]["high"] == pytest.approx(known.high, abs=0.03)


@pytest.mark.usefixtures("static_files")
def test_the_page_says_that_the_groups_are_known(wave: Wave) -> None:
    survey = send(wave, {0: 120, 1: 150, 2: 130}, yes={0: 80, 1: 60, 2: 50})
    comparison = compute(ask(wave, Kind.TABLE, "q2", "q1.0"))
    client = sign_in(survey.owner)
    page = text_of(client.get(f"/surveys/{survey.slug}/compare/{comparison.pk}/result"))
    assert re.search(r"Kitchen: \d+ %†? \(.*?\) said Yes to Q2; everyone else: \d+ %", page)
    assert "Kitchen n = 120" in page
    assert "Everyone else n = 280" in page
    assert "The groups are known" in page
    file = client.get(f"/surveys/{survey.slug}/compare/{comparison.pk}/result.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(file, newline="")))
    assert {row["thresholds"].split(";")[1] for row in rows} == {"as_it_is"}


def test_a_group_can_be_a_predictor(wave: Wave) -> None:
    send(wave, {0: 120, 1: 150, 2: 130}, yes={0: 80, 1: 60, 2: 50})
    found = compute(ask(wave, Kind.REGRESSION, "q2", "q1.0"))
    assert found.result is not None, found.problem
    table = compute(ask(wave, Kind.TABLE, "q2", "q1.0")).result
    assert table is not None
    [_, effect] = found.result["terms"]
    assert effect["coefficient"] == pytest.approx(table["log_odds_ratio"]["estimate"], abs=1e-4)


def test_hidden_groups_are_not_compared(wave: Wave) -> None:
    survey = send(wave, {0: 3, 1: 150, 2: 130})
    for name in ("q1.0", "q1.2"):
        [group] = find_indicators(find_manifest(survey), [name])
        refused = MERGED.format(label=group.label, number=1)
        for names in (("q2", name), (name, "q2")):
            for kind in (Kind.TABLE, Kind.REGRESSION):
                with pytest.raises(NotComparable, match=re.escape(refused)):
                    ask(wave, kind, *names)
    assert compute(ask(wave, Kind.TABLE, "q2", "q1.1")).result is not None
    with pytest.raises(NotComparable, match=re.escape(ALL_KNOWN)):
        ask(wave, Kind.TABLE, "q1.1", "q1.1")


def find_manifest(survey: Survey) -> Manifest:
    view = find_view(survey)
    assert view.manifest is not None
    return view.manifest
