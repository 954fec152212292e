"""privacy_check reports settings that would prevent workers from drawing a release."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from unittest import mock

import pytest
from django.core.checks import INFO
from pytest_django.fixtures import Settings

from aggregator.releases.folder import claim_folder
from aggregator.upkeep.checks.releases import check_releases, check_which_folder
from aggregator.upkeep.checks.stored import check_stored_rows
from scripts.stack.stack import ROOT
from surveys.manifest.manifest import Publication
from tests.support.factories import make_survey

VERSION = "aggregator.releases.library.metadata.version"


def identifiers() -> list[str]:
    return [message.id for message in check_releases() if message.id]


@pytest.mark.parametrize("place", [".", "not made yet", "not made yet/releases"])
def test_a_folder_that_can_be_written_or_made_is_fine(
    place: str, settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path / place
    assert identifiers() == []


@pytest.mark.parametrize("place", ["file", "file/releases"])
def test_a_folder_that_cannot_be_is_reported(
    place: str, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    settings.RELEASES = tmp_path / place
    assert identifiers() == ["aggregator.E060"]


@pytest.mark.django_db
def test_a_folder_in_which_draws_are_not_counted_is_reported(
    settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path / "first"
    assert check_which_folder() == []  # no folder counts draws yet
    claim_folder(settings.RELEASES)
    assert check_which_folder() == []
    settings.RELEASES = tmp_path / "second"
    [found] = check_which_folder()
    assert found.id == "aggregator.E063"
    assert "it has no identity" in found.msg
    assert "manage.py replace_releases_folder" in str(found.hint)
    settings.RELEASES = tmp_path / "first" / "identity"  # E060 reports that this is no folder
    assert check_which_folder() == []
    settings.RELEASES = None
    assert check_which_folder() == []


@pytest.mark.parametrize("found", ["0.15.0", "0.17.0", metadata.PackageNotFoundError])
def test_another_opendp_is_reported_where_releases_are_drawn(
    found: str | type[Exception], settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path
    with mock.patch(VERSION, side_effect=[found]):
        assert identifiers() == ["aggregator.E061"]
    settings.RELEASES = None
    with mock.patch(VERSION, side_effect=[found]):
        assert identifiers() == []


def test_the_version_that_is_installed_with_murmur_is_the_expected_one() -> None:
    pinned = [
        line
        for line in (ROOT / "requirements.txt").read_text().splitlines()
        if line.startswith("opendp")
    ]
    assert pinned[0].startswith("opendp==0.16.")


@pytest.mark.django_db
def test_a_machine_that_draws_nothing_is_noted_once_a_survey_is_protected(
    settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = None
    make_survey(publication=Publication.EXACT)
    assert list(check_stored_rows()) == []
    make_survey(publication=Publication.PROTECTED)
    [note] = check_stored_rows()
    assert (note.id, note.level) == ("aggregator.I062", INFO)
    assert "surveys with protected publication: 1" in note.msg
    settings.RELEASES = tmp_path
    assert list(check_stored_rows()) == []
