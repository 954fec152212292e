"""Roles that are taken away during a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from surveys.access import get_survey
from surveys.models import Survey, Team, TeamMember
from surveys.views.people.teams import _find_team


@contextmanager
def losing_the_role(survey: Survey) -> Iterator[None]:
    """Take away the owner's roles on a survey and in its teams after a view has read them."""
    owner = survey.owner

    def remove() -> None:
        survey.memberships.filter(account=owner).delete()
        TeamMember.objects.filter(account=owner, team__attachments__survey=survey).delete()

    def find_survey(*asked: Any) -> Survey:
        found = get_survey(*asked)
        remove()
        return found

    def find_team(*asked: Any, **owns: Any) -> Team:
        found = _find_team(*asked, **owns)
        remove()
        return found

    with (
        mock.patch("surveys.access.get_survey", find_survey),
        mock.patch("aggregator.api.views.get_survey", find_survey),
        mock.patch("surveys.views.people.teams._find_team", find_team),
    ):
        yield
