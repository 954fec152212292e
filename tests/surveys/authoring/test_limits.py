"""Limits that an author must acknowledge to open a survey, and the limit of its size."""

from __future__ import annotations

import json
import re
from math import log
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.simulation.rehearsal import open_rehearsal
from surveys.authoring import launch_checks
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import NotAcknowledged, NotLaunchable
from surveys.authoring.launch_checks import describe_size, list_exceeded_limits
from surveys.authoring.services import copy_survey, launch_survey
from surveys.manifest.manifest import Limit
from surveys.manifest.serialization import hash_manifest, parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
USUAL: dict[str, Any] = {"minimum_batch": 50, "display_minimum": 100}
SIX = [f"{word} question?" for word in ("Red", "Blue", "Green", "Dark", "Light", "Yellow")]
EVERYTHING: dict[str, Any] = {"questions": SIX, "cap": 29}


def launch_page(survey: Survey) -> str:
    return reverse("surveys:launch", args=[survey.slug])


def list_boxes(page: str) -> list[str]:
    return re.findall(r'name="(acknowledge_\w+)"', page)


def shown_hash(page: str) -> str:
    found = re.search(r'name="manifest" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found[1]


def exceeded(survey: Survey) -> list[str]:
    return list(build_manifest(survey=survey, wave_number=1).acknowledged)


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({**USUAL, "cap": 150}, []),
        ({**USUAL, "cap": 149}, ["cap"]),
        ({**USUAL, "minimum_batch": 49}, ["minimum_batch"]),
        ({**USUAL, "questions": SIX[:5]}, []),  # 5 ln 3 = 5.493
        ({**USUAL, "questions": SIX}, ["total_epsilon"]),
        ({**USUAL, "questions": SIX, "drawn": 5}, []),
        # The total ε for browsers is below the limit, and the total for coins is above the limit.
        ({**USUAL, "questions": SIX, "flips": 40, "coins": True}, ["total_epsilon"]),
        (EVERYTHING, ["cap", "minimum_batch", "total_epsilon"]),
    ],
)
def test_a_survey_exceeds_these_limits(settings: dict[str, Any], found: list[str]) -> None:
    assert 5.4 < 5 * log(3) < 5.5 < 6 * log(3)
    survey = make_survey(**settings)
    assert exceeded(survey) == found
    with_ticks = launch_survey(survey=survey, acknowledged=found)
    assert json.loads(bytes(with_ticks.manifest)).get("acknowledged", []) == found


@pytest.mark.parametrize("missing", list(Limit))
def test_code_that_opens_a_survey_must_acknowledge_every_limit(missing: Limit) -> None:
    survey = make_survey(**EVERYTHING)
    with pytest.raises(NotAcknowledged) as refused:
        launch_survey(survey=survey, acknowledged=set(Limit) - {missing})
    assert refused.value.limits == (missing,)
    assert not Wave.objects.exists()


def test_nothing_is_acknowledged_unless_it_is_said() -> None:
    with pytest.raises(NotAcknowledged) as refused:
        launch_survey(survey=make_survey(**EVERYTHING))
    assert refused.value.limits == tuple(sorted(Limit))


def test_the_manifest_holds_what_was_acknowledged_and_nothing_where_nothing_was() -> None:
    wave = open_survey(survey=make_survey(**EVERYTHING))
    content = bytes(wave.manifest)
    assert b'"acknowledged":["cap","minimum_batch","total_epsilon"]' in content
    assert serialize_manifest(parse_manifest(content)) == content
    usual = bytes(open_survey(survey=make_survey(**USUAL)).manifest)
    assert b"acknowledged" not in usual
    assert parse_manifest(usual).acknowledged == ()


def test_a_limit_that_is_not_exceeded_cannot_be_acknowledged() -> None:
    wave = launch_survey(survey=make_survey(**USUAL), acknowledged=[*Limit, "anything"])
    assert wave.description.acknowledged == ()


def test_coins_keep_the_acknowledged_limits_that_they_exceed_themselves() -> None:
    wave = open_survey(survey=make_survey(**EVERYTHING, coins=True))
    coins = wave.survey.waves.manual().get().description
    # Coins have no separate cap.
    assert coins.acknowledged == ("minimum_batch", "total_epsilon")
    few = open_survey(survey=make_survey(questions=SIX[:2], flips=5, coins=True))
    assert few.description.acknowledged == ("minimum_batch", "total_epsilon")
    assert few.survey.waves.manual().get().description.acknowledged == ("minimum_batch",)


def test_the_launch_page_has_a_box_and_a_reason_for_each_limit(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, **EVERYTHING)
    page = author.get(launch_page(survey))
    assert list_boxes(page.text) == [f"acknowledge_{limit}" for limit in sorted(Limit)]
    said = words_of(page)
    for limit in list_exceeded_limits(build_manifest(survey=survey, wave_number=1)):
        assert limit.text in said
        assert limit.reason in said


def test_the_hash_on_the_launch_page_is_that_of_the_opened_survey(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, **EVERYTHING)
    page = author.get(launch_page(survey)).text
    ticks = dict.fromkeys(list_boxes(page), "on")
    assert author.post(launch_page(survey), {"manifest": shown_hash(page), **ticks})["Location"]
    wave = survey.find_wave()
    assert wave is not None
    assert wave.manifest_hash_hex == shown_hash(page) == hash_manifest(bytes(wave.manifest)).hex()


@pytest.mark.parametrize("missing", sorted(Limit))
def test_a_missing_tick_shows_the_form_again_with_an_error_at_its_box(
    author: Client, owner: User, missing: str
) -> None:
    survey = make_survey(owner=owner, **EVERYTHING)
    page = author.get(launch_page(survey)).text
    ticks = {name: "on" for name in list_boxes(page) if not name.endswith(missing)}
    refused = author.post(launch_page(survey), {"manifest": shown_hash(page), **ticks})
    assert refused.status_code == 422
    assert re.findall(r'id="id_(acknowledge_\w+)_error"', refused.text) == [
        f"acknowledge_{missing}"
    ]
    assert f'href="#id_acknowledge_{missing}"' in refused.text
    ticked = re.findall(r'name="acknowledge_\w+"[^>]* checked', refused.text)
    assert len(ticked) == 2, "the ticks that were there stay"
    assert survey.is_draft()


def test_forged_ticks_are_ignored(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, **USUAL)
    page = author.get(launch_page(survey)).text
    assert list_boxes(page) == []
    forged = {f"acknowledge_{name}": "on" for name in (*Limit, "everything", "")}
    author.post(launch_page(survey), {"manifest": shown_hash(page), **forged})
    wave = survey.find_wave()
    assert wave is not None
    assert b"acknowledged" not in bytes(wave.manifest)


def test_a_limit_that_is_exceeded_meanwhile_must_be_read_first(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, **USUAL)
    page = author.get(launch_page(survey)).text
    Survey.objects.filter(pk=survey.pk).update(minimum_batch=10)
    posted = {"manifest": shown_hash(page), "acknowledge_minimum_batch": "on"}
    refused = author.post(launch_page(survey), posted)
    assert refused.status_code == 422
    assert "The survey was changed after this page was shown." in words_of(refused)
    assert survey.is_draft()


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"minimum_batch": 10, "display_minimum": 10}, "minimum_batch"),
        ({**USUAL, "cap": 100}, "cap"),
    ],
)
def test_a_draft_from_before_shows_what_it_exceeds_and_opens_after_the_tick(
    author: Client, owner: User, settings: dict[str, Any], found: str
) -> None:
    survey = make_survey(owner=owner, **settings)
    [limit] = list_exceeded_limits(build_manifest(survey=survey, wave_number=1))
    draft = author.get(reverse("surveys:edit", args=[survey.slug]))
    assert limit.key == found
    assert limit.text in words_of(draft)
    assert author.get(reverse("surveys:settings", args=[survey.slug])).status_code == 200
    page = author.get(launch_page(survey)).text
    posted = {"manifest": shown_hash(page), f"acknowledge_{found}": "on"}
    assert author.post(launch_page(survey), posted).status_code == 302
    assert not survey.is_draft()


def test_the_settings_of_an_opened_survey_say_what_was_acknowledged(
    author: Client, owner: User
) -> None:
    wave = open_survey(survey=make_survey(owner=owner, **EVERYTHING))
    page = words_of(author.get(reverse("surveys:settings", args=[wave.survey.slug])))
    for limit in list_exceeded_limits(wave.description):
        assert limit.text in page


def test_a_copy_acknowledges_nothing(author: Client, owner: User) -> None:
    wave = open_survey(survey=make_survey(owner=owner, **EVERYTHING))
    copied = copy_survey(survey=wave.survey)
    with pytest.raises(NotAcknowledged):
        launch_survey(survey=copied)
    assert copied.is_draft()


def test_a_rehearsal_has_no_limits() -> None:
    survey = make_survey(**EVERYTHING)
    rehearsal = open_rehearsal(survey=survey, people=20)
    assert rehearsal.description.acknowledged == ()


def test_a_demo_has_no_limits() -> None:
    wave = launch_survey(survey=make_survey(**EVERYTHING, demo=True))
    assert wave.description.acknowledged == ()


def test_a_wave_from_before_has_none_and_keeps_its_bytes() -> None:
    wave = open_survey(survey=make_survey(**EVERYTHING))
    content = json.loads(bytes(wave.manifest))
    del content["acknowledged"]
    old = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert parse_manifest(old).acknowledged == ()
    assert serialize_manifest(parse_manifest(old)) == old


@pytest.mark.parametrize(
    ("room", "said", "may_open"),
    [
        (1.5, "", True),
        (1.1, "of at most", True),
        (0, "of at most", True),
        (-1, "phones load", False),
    ],
)
def test_the_size_is_said_near_the_limit_and_refused_above_it(
    room: float, said: str, may_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = make_survey()
    manifest = build_manifest(survey=survey, wave_number=1)
    size = len(serialize_manifest(manifest))
    limit = int(size * room) if room > 1 else size + int(room)
    monkeypatch.setattr(launch_checks, "MOST_BYTES", limit)
    assert said in describe_size(manifest)
    assert bool(describe_size(manifest)) == bool(said)
    page = sign_in(survey.owner).get(reverse("surveys:questions", args=[survey.slug]))
    assert ('id="size"' in page.content.decode()) == bool(said)
    if may_open:
        open_survey(survey=survey)
    else:
        with pytest.raises(NotLaunchable, match="phones load at most"):
            open_survey(survey=survey)


def test_the_form_counts_what_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = make_survey()
    size = len(serialize_manifest(build_manifest(survey=survey, wave_number=1)))
    monkeypatch.setattr(launch_checks, "MOST_BYTES", size + 250)
    path = reverse("surveys:question_create", args=[survey.slug]) + "?type=yes_no"
    client = sign_in(survey.owner)
    for text, said in (("Short?", "of at most"), ("Long? " * 160, "phones load at most")):
        posted = {"text": text, "flips": "25", "cost": "1"}
        page = client.post(path, posted, headers={"HX-Request": "true"}).content.decode()
        assert said in page
