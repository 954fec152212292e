"""The publication of a survey is chosen in its draft, frozen, and stated to respondents."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from django.db import IntegrityError, transaction
from django.utils.translation import override

from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, copy_survey
from surveys.manifest.manifest import Publication
from surveys.manifest.readers import Loss
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.respondent.label.label import describe_protection
from tests.support.factories import make_survey, open_survey
from tests.support.label import text_of

ANYONE = (
    "Once the survey has closed, anyone can see estimates for everyone together, but "
    "no codes and no groups."
)
PROTECTED = Publication.PROTECTED
pytestmark = pytest.mark.django_db


def change(wave: Wave, **values: str) -> bytes:
    """Return the wave's manifest with a different publication, or without one."""
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


def test_a_protected_manifest_holds_its_limits_as_whole_numbers() -> None:
    survey = make_survey(
        publication=PROTECTED, release_epsilon_hundredths=250, release_delta_nanos=0
    )
    wave = open_survey(survey=survey)
    raw = json.loads(bytes(wave.manifest))
    assert (raw["release_epsilon_hundredths"], raw["release_delta_nanos"]) == (250, 0)
    manifest = wave.description
    assert (manifest.release_epsilon_hundredths, manifest.release_delta_nanos) == (250, 0)
    assert serialize_manifest(manifest) == bytes(wave.manifest)


@pytest.mark.parametrize("chosen", [Publication.NONE, Publication.EXACT])
def test_only_protected_manifests_name_limits(chosen: Publication) -> None:
    survey = make_survey(publication=chosen, release_epsilon_hundredths=250)
    content = bytes(open_survey(survey=survey).manifest)
    assert b"release" not in content
    limits = b'"release_delta_nanos":1000,"release_epsilon_hundredths":100,"survey"'
    with pytest.raises(ValueError, match="release_epsilon_hundredths belongs to protected"):
        parse_manifest(content.replace(b'"survey"', limits))


@pytest.mark.parametrize("name", ["release_epsilon_hundredths", "release_delta_nanos"])
@pytest.mark.parametrize("value", ["-1", "0.5", "301.0", "1001", "true", '"100"', "null"])
def test_limits_that_are_no_whole_numbers_in_their_range_are_refused(name: str, value: str) -> None:
    content = bytes(open_survey(survey=make_survey(publication=PROTECTED)).manifest).decode()
    usual = f'"{name}":{json.loads(content)[name]}'
    with pytest.raises(ValueError, match=name):
        parse_manifest(content.replace(usual, f'"{name}":{value}').encode())
    with pytest.raises(ValueError, match=name):
        parse_manifest(content.replace(usual + ",", "").encode())


@pytest.mark.parametrize("value", [9, 301])
def test_the_database_refuses_a_cap_out_of_range(value: int) -> None:
    with pytest.raises(IntegrityError, match="release_epsilon"), transaction.atomic():
        make_survey(release_epsilon_hundredths=value)


def test_people_who_toss_coins_are_told_the_same() -> None:
    survey = make_survey(publication=PROTECTED, coins=True, release_epsilon_hundredths=30)
    open_survey(survey=survey)
    coins = Wave.objects.manual().get().description
    assert coins.publishes_releases
    assert (coins.release_epsilon_hundredths, coins.release_delta_nanos) == (30, 1000)


def test_a_copy_publishes_the_same_and_is_not_switched_off() -> None:
    survey = make_survey(
        publication=PROTECTED,
        public_results_off=True,
        release_epsilon_hundredths=70,
        release_delta_nanos=5,
    )
    copied = copy_survey(survey=survey)
    assert copied.publication == PROTECTED
    assert (copied.release_epsilon_hundredths, copied.release_delta_nanos) == (70, 5)
    assert not copied.public_results_off


# A manifest from before decision 49, and the SHA-256 of its label in six languages. The label may
# say more today, but must keep its promises: read what changed before you change the hash.
OLDER = (
    '{"cap":null,"closes":null,"display_minimum":100,"format":1,"introduction":"","language":"en",'
    '"minimum_batch":50,"opens":null,%s"questions":[{"flips":25,"k":2,"name":"q1","options":'
    '[{"code":1,"text":"Yes"},{"code":0,"text":"No"}],"text":"Moved?","threshold":3221225472,'
    '"type":"yes_no"},{"k":2,"name":"q2","options":[{"code":0,"text":"A"},{"code":1,"text":"B"}],'
    '"text":"Department?","type":"declared"}],"survey":"abc","title":"On the road","wave":1}'
)
NONE_LABEL = "3a6a99061e7b7443e863bfd3d72eb92b2e3275cb3b2fc09dbd67336b47e01c90"
EXACT_LABEL = "777f23113198660756dc03e4da2a3b190c914a9d30cacff6a5ac3814fbed2e8f"


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("", NONE_LABEL),
        ('"publication":"none",', NONE_LABEL),
        ('"publication":"exact",', EXACT_LABEL),
    ],
)
def test_older_surveys_keep_their_bytes_and_their_promises(key: str, label: str) -> None:
    content = (OLDER % key).encode()
    manifest = parse_manifest(content)
    assert serialize_manifest(manifest) == content
    digest = hashlib.sha256()
    for language in ("en", "es", "fr", "de", "ar", "zh-hans"):
        with override(language):
            words = " ".join(text_of(describe_protection(manifest)).split())
        digest.update(words.encode())
    assert digest.hexdigest() == label


def tell(survey: Survey, language: str = "en") -> str:
    """Return what the label of a protected survey tells about its results."""
    with override(language):
        shown = describe_protection(build_manifest(survey=survey, wave_number=1)).shows
        nothing = describe_protection(build_manifest(survey=make_survey(), wave_number=1)).shows
    [said] = set(shown) - set(nothing)
    assert not re.search("[εδ]", said)
    return said


def list_formulas(survey: Survey, language: str = "en") -> tuple[str, ...]:
    """Return the formulas of the page, so that they can be checked."""
    with override(language):
        found = describe_protection(build_manifest(survey=survey, wave_number=1)).formulas
    assert not re.search("ε =|= [01]", " ".join(found))  # formulas have no-break spaces
    return tuple(one.replace("\N{NO-BREAK SPACE}", " ") for one in found)


def test_the_label_of_a_protected_survey_says_how_often_a_guess_is_right() -> None:
    """e^1 / (1 + e^1) = .7311; the reader's ε at 2 is .8020, .6904; two coins have ln 3, .75."""
    survey = make_survey(publication=PROTECTED)
    assert tell(survey) == (
        "Once the survey has closed, anyone can see figures that chance has changed a little. "
        "Without these figures, a guess about whether you took part is right 50 times in 100. With "
        "them, it is right at most 74 times. "
        "If fewer than 10 people take part, only how often each code came is kept. "
        "About an answer: readers at most 70 times instead of 50, the researchers 75."
    )
    assert list_formulas(survey) == (
        "All your codes together: ε = 2.20",
        "Whether you took part, for readers: ε = 1.00, δ = 10⁻⁶",
        "One answer, for readers: ε = 0.81",
    )


def test_the_label_names_what_is_sent_as_it_is() -> None:
    """e^2.2 / (1 + e^2.2) = .9002. Twice the cap of 1.10 is shown as 2.20, not as 2.21."""
    survey = make_survey(
        publication=PROTECTED, release_epsilon_hundredths=110, release_delta_nanos=0
    )
    add_question(survey=survey, type="declared", text="Department?", options=["A", "B"])
    said = tell(survey)
    assert "right at most 76 times. If fewer than 10 people take part, only how often" in said
    assert said.endswith(" Question 3, sent as it is: readers at most 91 times instead of 50.")
    assert list_formulas(survey)[-1] == "What is sent as it is, for readers: ε = 2.20"


@pytest.mark.parametrize("language", ["es", "fr", "de", "ar", "zh-hans"])
def test_every_language_tells_the_same_numbers(language: str) -> None:
    survey = make_survey(publication=PROTECTED, release_epsilon_hundredths=50)
    add_question(survey=survey, type="declared", text="Department?", options=["A", "B"])
    said = tell(survey, language)
    for number in ("63", "62", "75", "3", "74"):
        assert number in said
    assert said != tell(survey)
    formulas = " ".join(list_formulas(survey, language)).replace(",", ".")
    for number in ("0.50", "10⁻⁶", "0.48", "2.20", "1.00"):
        assert number in formulas


def test_a_delta_close_to_the_next_guess_counts() -> None:
    """The odds count δ: without it, a guess could be right a little more often than said."""
    assert Loss(epsilon=1.0, delta=1e-6).guess_epsilon > Loss(epsilon=1.0).guess_epsilon


def test_the_label_says_what_anyone_can_see() -> None:
    exact, nothing = (
        describe_protection(
            build_manifest(survey=make_survey(publication=chosen), wave_number=1)
        ).shows
        for chosen in (Publication.EXACT, Publication.NONE)
    )
    assert set(exact) - set(nothing) == {ANYONE}
    assert set(nothing) - set(exact) == {"The researchers decide who sees the results."}


@pytest.mark.parametrize(
    ("publication", "said"),
    [
        (Publication.NONE, None),
        (Publication.EXACT, ANYONE),
        (
            PROTECTED,
            "Once the survey has closed, anyone can see figures that chance has changed a little.",
        ),
    ],
)
def test_what_anyone_can_see_stands_before_the_first_question_and_on_paper(
    publication: Publication, said: str | None
) -> None:
    """People who answer on paper open no page, but figures about them are published too."""
    label = describe_protection(
        build_manifest(survey=make_survey(publication=publication), wave_number=1)
    )
    told = [one.sentence for one in label.consequences[3:]]
    assert told == ([said] if said else [])
    assert [one.sentence for one in label.on_paper.consequences[2:]] == told
