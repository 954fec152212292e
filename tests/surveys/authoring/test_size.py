"""A survey that is too large for phones cannot be opened, and its author learns that in time."""

from __future__ import annotations

import pytest
from django.urls import reverse

from surveys.authoring import launch_checks
from surveys.authoring.drafts import describe
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import describe_size
from surveys.manifest.serialization import serialize_manifest
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


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
    manifest = describe(survey=survey, wave_number=1)
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
    size = len(serialize_manifest(describe(survey=survey, wave_number=1)))
    monkeypatch.setattr(launch_checks, "MOST_BYTES", size + 250)
    path = reverse("surveys:question_create", args=[survey.slug]) + "?type=yes_no"
    client = sign_in(survey.owner)
    for text, said in (("Short?", "of at most"), ("Long? " * 160, "phones load at most")):
        posted = {"text": text, "flips": "25", "cost": "1"}
        page = client.post(path, posted, headers={"HX-Request": "true"}).content.decode()
        assert said in page
