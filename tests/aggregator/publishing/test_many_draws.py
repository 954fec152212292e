"""With and without one person, all that anyone can request differs only in what was drawn.

Two surveys differ by one report. Hundreds of times, what a worker drew from one of them is stored
in both. Every byte, status and header of their public page and file must then be equal. The page
and the file therefore depend on reports only through the draws in the ledger, whose losses have
other tests.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from aggregator.models import Release
from aggregator.releases.drawing import _Draw, draw_release, find_releases_to_draw
from aggregator.releases.ledger import reserve_planned
from surveys.authoring.services import add_question, plan_release
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import StoredText, Survey, Wave, today
from tests.support.factories import make_survey, open_survey
from tests.support.releases.many_kinds import translate_all
from tests.support.waves import count_all, send_many

pytestmark = [
    pytest.mark.long,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("static_files"),
]
DRAWS = 320
LANGUAGES = ("en", "de", "ar")
SLUGS = ("abcdefghijkm", "bcdefghijkmn")
Reply = tuple[int, tuple[tuple[str, str], ...], str]


def ask(kind: ReleaseKind, *questions: str, hundredths: int = 50, **more: Any) -> ReleaseRequest:
    return ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=hundredths, **more)


PLAN = (
    ask(ReleaseKind.TABLE, "q1", "q2", "q3", "q4", hundredths=100),
    ask(ReleaseKind.TABLE, "q1", group="q5"),
    ask(ReleaseKind.LEADER, "q4"),
    ask(ReleaseKind.MEDIAN, "q4"),
    ask(ReleaseKind.KEY_DRIVER, "q1", "q2", "q3"),
)


def close_with(people: int, slug: str) -> Wave:
    survey = make_survey(
        questions=("A?", "B?", "C?"),
        title="Same",
        slug=slug,
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
    )
    add_question(survey=survey, type="scale", text="How often?", minimum=1, maximum=3)
    add_question(survey=survey, type="declared", text="Department?", options=["A", "B"])
    translate_all(survey, *LANGUAGES[1:])
    for request in PLAN:
        plan_release(survey=survey, request=request)
    wave = open_survey(survey=survey)
    send_many(wave, [bytes([one % 2, 1, 0, one % 3, one % 2]) for one in range(people)])
    count_all(wave)
    reserve_planned(wave_id=wave.pk)
    for release in find_releases_to_draw():
        assert draw_release(release.pk)
    Release.objects.filter(wave=wave).update(public_from=today())
    return wave


def visit(wave: Wave, *paths: str) -> list[Reply]:
    """Fetch URLs as a visitor does, and remove from the replies what identifies the survey."""
    StoredText.objects.all().delete()  # so that each page is made again
    own = re.compile(f"{wave.survey.slug}|{wave.manifest_hash_hex[:8]}[0-9a-f]*")
    replies = []
    for path in paths:
        reply = Client().get(path)
        headers = tuple((name, own.sub("", value)) for name, value in reply.headers.items())
        replies.append((reply.status_code, headers, own.sub("", reply.content.decode())))
    return replies


def list_paths(survey: Survey, language: str) -> list[str]:
    page, file = (
        reverse(f"aggregator:{name}", args=[survey.slug])
        for name in ("public_results", "public_results_csv")
    )
    return [file, f"{page}?lang={language}"]


@pytest.mark.parametrize("people", [0, 9, 29, 60, 89])
def test_one_person_changes_nothing_but_what_was_drawn(
    people: int, settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path
    waves = [close_with(people + more, slug) for more, slug in enumerate(SLUGS)]
    drawn = [list(wave.releases.order_by("pk")) for wave in waves]
    states = [[release.state for release in releases] for releases in drawn]
    assert states == [["drawn"] * len(PLAN)] * 2
    seen = set()
    for number in range(DRAWS // 8):
        source, language = drawn[number % 2], LANGUAGES[number % 3]
        results = [_Draw(release).draw() for release in source]
        replies = []
        for wave, releases in zip(waves, drawn, strict=True):
            for release, result in zip(releases, results, strict=True):
                Release.objects.filter(pk=release.pk).update(result=result)
            replies.append(visit(wave, *list_paths(wave.survey, language)))
        assert replies[0] == replies[1]
        assert {status for status, _, _ in replies[0]} == {200}
        seen.add(replies[0][0][2])
    # The file shows the draws, unless it says that there are too few people.
    assert people < 60 or len(seen) > DRAWS // 16
