"""Roles that are taken away while a request is on its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from surveys.access import get_survey
from surveys.models import Survey


@contextmanager
def losing_the_role(survey: Survey) -> Iterator[None]:
    """Take the owner's role away as soon as a view has asked for it."""

    def find_and_remove(*asked: Any) -> Survey:
        found = get_survey(*asked)
        survey.memberships.filter(account=survey.owner).delete()
        return found

    places = ("surveys.access", "aggregator.api.views")
    patches = [mock.patch(f"{place}.get_survey", find_and_remove) for place in places]
    with patches[0], patches[1]:
        yield
