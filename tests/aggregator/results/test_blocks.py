"""Blocks: the rows of a question, their positions on the axis, and their text."""

from __future__ import annotations

import pytest

from aggregator.results.blocks import Block, RowKind, list_blocks, row_of_share
from aggregator.results.display import find_view
from surveys.axis import Axis, Whisker
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.browser.every_type import make_branching_survey
from tests.support.factories import make_launched_survey
from tests.support.fielding import field, process, send_codes, send_people


def read_blocks(wave: Wave) -> list[Block]:
    results = find_view(wave.survey).results
    assert results is not None
    return list_blocks(results)


@pytest.fixture
def moving(db: None) -> list[Block]:
    """Return the blocks of a closed survey with a question of every type."""
    wave = make_branching_survey()
    send_people(wave, people=6000)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return read_blocks(wave)


def test_each_question_has_a_block_in_the_order_of_the_survey(moving: list[Block]) -> None:
    assert [block.number for block in moving] == sorted(block.number for block in moving)
    assert [block.question.type for block in moving] == [
        "yes_no",
        "several",
        "follow_up",
        "number",
        "scale",
        "choice",
        "declared",
    ]


def test_the_points_of_a_scale_have_its_labels_and_its_mean_a_scale(moving: list[Block]) -> None:
    (tired,) = (block for block in moving if block.question.type == "scale")
    assert [row.label for row in tired.rows] == [
        "1 (Not at all)",
        "2",
        "3",
        "4",
        "5 (Very)",
        "Mean",
    ]
    mean = tired.rows[-1]
    assert mean.kind is RowKind.MEAN
    assert mean.axis == Axis(least=1.0, greatest=5.0, ends=("1", "5"))
    assert mean.value is not None
    assert mean.whisker
    assert mean.whisker.value == round((mean.value - 1) / 4, 4)


def test_a_group_has_a_share_and_an_interval_about_the_population(moving: list[Block]) -> None:
    town, elsewhere = moving[-1].rows
    assert town.group is not None
    assert town.group.count is not None
    assert town.value == town.group.count / 6000
    assert town.low is not None
    assert town.high is not None
    assert 0.005 < town.value - town.low < 0.05
    assert town.text.startswith(f"{town.number} (")
    assert elsewhere.kind is RowKind.GROUP


def test_a_question_behind_a_rule_says_about_how_many_were_asked(moving: list[Block]) -> None:
    things = moving[1]
    assert things.asked is not None
    assert things.asked.value is not None
    about = round(6000 * things.asked.value)
    assert things.asked_text.startswith(f"asked ≈ {about:,} (")
    assert all(row.kind is not RowKind.ASKED for row in things.rows)
    assert things.among == "of those who were asked and answered"
    assert things.caption.endswith("; more than one answer possible")
    assert [row.among for row in things.rows] == ["", "", "", "of those who were asked"]


@pytest.mark.django_db
def test_groups_are_counted_after_the_close() -> None:
    wave = make_branching_survey()
    send_people(wave, people=500)
    process(wave)
    groups = read_blocks(wave)[-1]
    assert groups.is_declared
    assert not groups.rows
    assert groups.note


@pytest.mark.django_db
def test_a_row_without_a_value_has_no_place_on_the_axis() -> None:
    survey = field(make_launched_survey(), yes=[15, 30], total=30)
    results = find_view(survey).results
    assert results is not None
    row = list_blocks(results)[0].rows[0]
    assert (row.value, row.whisker, row.number) == (None, None, "")
    assert row.text == "too few answers"


@pytest.mark.django_db
def test_a_row_that_needs_caution_has_a_mark_and_its_text_has_none() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[100, 700], total=200)
    process(wave)
    block, _ = read_blocks(wave)
    (row,) = block.rows
    assert (row.mark, block.has_caution) == ("†", True)
    assert row.text == f"{row.number} ({row.range})"


def test_any_share_makes_a_row() -> None:
    row = row_of_share(key="q1 1", label="Yes", value=0.452, low=0.39, high=0.514)
    assert row.text == "45\N{NO-BREAK SPACE}% (39–51)"
    assert row.whisker == Whisker(low=0.39, value=0.452, high=0.514)
    narrow = row_of_share(key="q1 1", label="Yes", value=0.452, low=0.44, high=0.464)
    assert narrow.text == "45.2\N{NO-BREAK SPACE}% (44.0–46.4)"
    nothing = row_of_share(key="q1 1", label="Yes", value=None, low=0.1, high=0.9)
    assert (nothing.text, nothing.whisker) == ("too few answers", None)
