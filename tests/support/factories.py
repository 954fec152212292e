"""Simple factories for the objects that tests start from; each takes only what a test needs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts.models import User
from surveys.authoring.services import add_questions, launch_survey, plan_release
from surveys.manifest.manifest import Limit, Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import fixed_options
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Survey, Wave

PASSWORD = "a long enough passphrase"
YES_NO = fixed_options(QuestionType.YES_NO)
FOLLOW_UP = fixed_options(QuestionType.FOLLOW_UP)
QUESTIONS = ("Have you ever driven after drinking?", "Do you have children?")
_numbers = itertools.count(1)
_hashes: dict[str, str] = {}


def make_user(email: str = "", *, password: str = PASSWORD, is_active: bool = True) -> User:
    """Make a researcher; the slow hash of the usual password is computed once per run."""
    user = User(email=email or f"researcher{next(_numbers)}@example.org", is_active=is_active)
    if password not in _hashes:
        _hashes[password] = make_password(password)
    user.password = _hashes[password]
    user.save()
    return user


def make_survey(
    *,
    owner: User | None = None,
    title: str = "On the road",
    introduction: str = "",
    questions: Sequence[str] = QUESTIONS,
    flips: int = 25,
    minimum_batch: int = 10,
    display_minimum: int = 10,
    opens_at: datetime | None = None,
    closes_at: datetime | None = None,
    cap: int | None = None,
    planned: Sequence[ReleaseRequest] = (),
    **settings: Any,
) -> Survey:
    """Make a draft; if its figures are protected, set the closing date that it needs."""
    if settings.get("publication") == Publication.PROTECTED and closes_at is None:
        closes_at = timezone.now() + timedelta(days=30)
    survey = Survey.objects.create_owned(
        owner or make_user(),
        title=title,
        introduction=introduction,
        minimum_batch=minimum_batch,
        display_minimum=display_minimum,
        opens_at=opens_at,
        closes_at=closes_at,
        cap=cap,
        **settings,
    )
    add_questions(
        survey=survey,
        contents={str(key): {"text": text, "flips": flips} for key, text in enumerate(questions)},
    )
    for request in planned:
        plan_release(survey=survey, request=request)
    return survey


def make_launched_survey(**settings: Any) -> Wave:
    """Make a survey as above and open it; return its wave."""
    return open_survey(survey=make_survey(**settings))


def open_survey(*, survey: Survey) -> Wave:
    """Launch a survey as an author who acknowledges every limit that it exceeds."""
    return launch_survey(survey=survey, acknowledged=set(Limit))
