"""What the label still counts once surveys were deleted, and what the database keeps for that."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.upkeep.deleting import delete_survey
from surveys.authoring.services import close_wave
from surveys.models import Wave
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from surveys.authoring.services import add_question

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
BRIBES = "Have you ever taken a bribe?"
SAID = re.compile(r"in (\d+) other survey")


@pytest.fixture
def owner() -> User:
    return make_user()


def said(wave: Wave) -> int:
    """What the label says about other surveys."""
    page = Client().get(reverse("surveys:respond", args=[wave.survey.slug])).content.decode()
    found = SAID.search(page)
    return int(found[1]) if found else 0


def end(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    delete_survey(survey=wave.survey)


def test_asking_again_after_each_deletion_counts_up(owner: User) -> None:
    for others in range(4):
        wave = make_launched_survey(owner=owner, questions=(BRIBES,))
        assert said(wave) == others
        end(wave)


@pytest.mark.parametrize(
    "question",
    [
        {"text": f"1. {BRIBES}"},
        {"text": BRIBES, "type": "scale", "minimum": 0, "maximum": 1},
    ],
)
def test_a_number_or_another_type_makes_it_no_other_question(
    owner: User, question: dict[str, Any]
) -> None:
    make_launched_survey(owner=owner, questions=(BRIBES,))
    survey = make_survey(owner=owner, questions=())
    add_question(survey=survey, **question)
    assert said(open_survey(survey=survey)) == 1
