"""What a survey publishes is chosen in its draft, frozen, and told to respondents."""

from __future__ import annotations

import json

import pytest

from surveys.authoring.drafts import describe
from surveys.authoring.services import copy_survey
from surveys.manifest.manifest import Publication
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Wave
from surveys.respondent.label.label import describe_protection
from tests.support.factories import make_survey, open_survey

ANYONE = (
    "The results: once the survey has closed, anyone can see estimates for everyone together, but "
    "no codes and no groups."
)
pytestmark = pytest.mark.django_db


def change(wave: Wave, **values: str) -> bytes:
    """Return the wave's manifest with another publication, or without any."""
    raw = json.loads(bytes(wave.manifest))
    del raw["publication"]
    text = json.dumps({**raw, **values}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


@pytest.mark.parametrize("chosen", Publication)
def test_every_new_manifest_says_what_is_published(chosen: Publication) -> None:
    wave = open_survey(survey=make_survey(publication=chosen))
    content = bytes(wave.manifest)
    assert json.loads(content)["publication"] == chosen.value
    assert wave.description.publication is chosen
    assert serialize_manifest(wave.description) == content


def test_nothing_is_published_unless_the_author_chooses_it() -> None:
    manifest = open_survey(survey=make_survey()).description
    assert manifest.publication is Publication.NONE
    assert not manifest.has_public_results


def test_a_manifest_older_than_the_key_publishes_nothing_and_keeps_its_bytes() -> None:
    old = change(open_survey(survey=make_survey()))
    manifest = parse_manifest(old)
    assert manifest.publication is None
    assert not manifest.has_public_results
    assert serialize_manifest(manifest) == old


def test_a_kind_of_publication_that_this_release_does_not_know_is_refused() -> None:
    content = change(open_survey(survey=make_survey()), publication="everything")
    with pytest.raises(ValueError, match="everything"):
        parse_manifest(content)


def test_people_who_toss_coins_are_told_the_same() -> None:
    open_survey(survey=make_survey(publication=Publication.EXACT, coins=True))
    coins = Wave.objects.manual().get()
    assert coins.description.has_public_results


def test_a_copy_publishes_the_same_and_is_not_switched_off() -> None:
    survey = make_survey(publication=Publication.EXACT, public_results_off=True)
    copied = copy_survey(survey=survey)
    assert copied.publication == Publication.EXACT
    assert not copied.public_results_off


def test_the_label_says_what_anyone_can_see() -> None:
    exact, nothing = (
        describe_protection(describe(survey=make_survey(publication=chosen), wave_number=1)).shows
        for chosen in (Publication.EXACT, Publication.NONE)
    )
    assert set(exact) - set(nothing) == {ANYONE}
    assert set(nothing) - set(exact) == {"The results: the researchers decide who sees them."}
