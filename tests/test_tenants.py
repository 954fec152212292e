"""Who may do what: every route × method × owner, stranger and visitor.

The routes come from the URLconf. One that is not listed here fails the suite, so a new page
cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.sealing import seal_next_batch
from aggregator.snapshots import update_snapshot
from surveys.models import Survey
from surveys.services import add_question, create_survey
from tests.aggregator.waves import make_wave, send_many
from tests.routes import Route, all_routes

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
Statuses = tuple[int, int, int]  # owner, stranger, visitor
TO_SIGN_IN = 302


@dataclass(frozen=True)
class Row:
    """What the three get; `other` holds for every method that is not named."""

    get: Statuses
    post: Statuses | None = None
    other: Statuses = (405, 404, TO_SIGN_IN)
    survey: str = "draft"
    named: dict[str, Statuses] = field(default_factory=dict)

    def expected(self, method: str) -> Statuses:
        if method in self.named:
            return self.named[method]
        if method in ("GET", "HEAD"):
            return self.get
        if method == "POST" and self.post is not None:
            return self.post
        return self.other


def everyone(status: int) -> Statuses:
    return (status, status, status)


def own(status: int) -> Statuses:
    """Only for the owner: strangers find nothing, visitors are sent to sign in."""
    return (status, 404, TO_SIGN_IN)


def own_api(status: int) -> Statuses:
    return (status, 404, 403)


PUBLIC = Row(get=everyone(200), other=everyone(405))
API = Row(get=own_api(200), other=(405, 405, 403), survey="launched")
RESULTS = Row(get=own(200), survey="launched", other=own(405))
PAGE = Row(get=own(200), post=own(200), other=own(405))
ALLAUTH = {"PUT": everyone(405), "PATCH": everyone(405), "DELETE": everyone(405)}

TABLE: dict[str, Row] = {}
