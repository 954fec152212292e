"""Verifying finds every change to a ledger or a release made outside the product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from aggregator.models import Release, ReleaseLedger
from aggregator.releases.drawing import draw_release
from aggregator.releases.ledger import reserve_release
from aggregator.upkeep.verification.run import Verification
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from tests.support.waves import make_released_wave

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(settings: Settings, tmp_path: Path) -> Release:
    """Make a drawn table and a waiting leader; return the table."""
    settings.RELEASES = tmp_path
    wave = make_released_wave()
    made = [
        reserve_release(wave=wave, request=request)
        for request in (
            ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1", "q2"), epsilon_hundredths=30),
            ReleaseRequest(kind=ReleaseKind.LEADER, questions=("q2",), epsilon_hundredths=20),
        )
    ]
    draw_release(made[0].pk)
    made[0].refresh_from_db()
    return made[0]


def find() -> list[str]:
    return [one.finding for one in Verification().run(Wave.objects.order_by("pk"))]


def test_what_the_product_wrote_passes(release: Release) -> None:
    assert find() == []
    (waiting,) = Release.objects.exclude(pk=release.pk)
    draw_release(waiting.pk)
    assert find() == []
    Release.objects.filter(pk=waiting.pk).update(state=Release.State.LOST, result=None)
    assert find() == []


def file_of(release: Release, folder: Path) -> Path:
    return folder / release.wave.manifest_hash_hex


def test_a_restored_database_is_found(release: Release, tmp_path: Path) -> None:
    with file_of(release, tmp_path).open("a") as file:
        file.write("1" * 32 + "\n")
    assert [finding[:24] for finding in find()] == ["releases were drawn that"]
    # Once this has been noticed and the cap counts as spent, nothing is left to do.
    ReleaseLedger.objects.update(spent_hundredths=100, delta_spent_nanos=1000, suspended="restored")
    assert find() == []


@pytest.mark.parametrize("content", ["", "damaged"])
def test_a_file_without_what_was_drawn_is_found(
    release: Release, tmp_path: Path, content: str
) -> None:
    file_of(release, tmp_path).write_text(content)
    assert [finding[:40] for finding in find()] == ["the file that counts draws does not know"]


def test_a_machine_without_the_file_finds_nothing(
    release: Release, settings: Settings, tmp_path: Path
) -> None:
    file_of(release, tmp_path).unlink()
    assert find() == []
    settings.RELEASES = None
    assert find() == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"spent_hundredths": 49}, "its releases cost more than is charged"),
        ({"cap_hundredths": 200}, "its cap is not the one in the manifest"),
        ({"delta_cap_nanos": 1}, "its cap is not the one in the manifest"),
    ],
)
def test_a_changed_ledger_is_found(release: Release, change: dict[str, int], found: str) -> None:
    ReleaseLedger.objects.update(**change)
    assert find() == [found]


def test_a_missing_ledger_is_found(release: Release) -> None:
    ReleaseLedger.objects.all().delete()
    assert find() == ["there are releases and no ledger"]


def test_a_smaller_delta_than_was_spent_is_found(release: Release) -> None:
    Release.objects.filter(pk=release.pk).update(delta_nanos=1000)
    assert "its releases cost a larger δ than is charged" in find()


CELLS = {"q1": [1, 2], "q2": [3, -4]}


@pytest.mark.parametrize(
    "result",
    [
        {},
        [],
        {"code": 0},
        {"cells": {}},
        {"cells": [1, 2]},
        {"cells": CELLS, "code": 0},
        {"cells": CELLS | {"q3": [1, 2]}},
        {"cells": CELLS | {"q1": [1]}},
        {"cells": CELLS | {"q1": [1, 2, 3]}},
        {"cells": CELLS | {"q1": [1.0, 2]}},
        {"cells": CELLS | {"q1": [True, 2]}},
        {"cells": CELLS | {"q1": None}},
    ],
)
def test_a_figure_of_another_form_is_found(release: Release, result: Any) -> None:
    Release.objects.filter(pk=release.pk).update(result=result)
    assert find() == ["its figure does not have the form of its request"]


@pytest.mark.parametrize("result", [{"code": 7}, {"code": None}, {"cells": CELLS}, {}])
def test_a_leader_that_is_no_option_is_found(release: Release, result: Any) -> None:
    leader = Release.objects.exclude(pk=release.pk)
    draw_release(leader.get().pk)
    leader.update(result=result)
    assert find() == ["its figure does not have the form of its request"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"scale": "1"}, "its noise is not the one that its price pays for"),
        ({"scale": "0"}, "its noise is not the one that its price pays for"),
        ({"scale": "wide"}, "its request does not fit the manifest"),
        ({"scale": "1/0"}, "its request does not fit the manifest"),
        ({"mechanism": "gaussian"}, "its noise is not the one that its price pays for"),
        ({"epsilon_hundredths": 29}, "its noise is not the one that its price pays for"),
        ({"rho": 0.1}, "its noise is not the one that its price pays for"),
        ({"request": {}}, "its request does not fit the manifest"),
        ({"request_hash": "0" * 64}, "its request is not the one that was made (SHA-256)"),
        ({"kind": "leader"}, "its request is not the one that was made (SHA-256)"),
    ],
)
def test_a_changed_release_is_found(release: Release, change: dict[str, Any], found: str) -> None:
    Release.objects.filter(pk=release.pk).update(**change)
    assert find() == [found]
