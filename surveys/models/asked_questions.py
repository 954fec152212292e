"""Which scrambled questions an author's surveys ask, including surveys that were deleted.

A question is identified by a keyed hash of its owner, its text and its answers. Leading numbers,
spaces, punctuation and case make no difference. The rows of a survey are written at the launch.
When the survey is deleted, the owner's counts of these questions increase by one. The counts name
neither survey nor time (docs/decisions/0056-the-label-does-not-forget.md).
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models

from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import find_skeleton
from surveys.manifest.questions import ManifestQuestion

# Separates these keys from everything else that is derived from SECRET_KEY.
_PURPOSE = b"murmur: what an author's surveys ask"
# The key of this text counts all deleted surveys of the owner. No question has an empty text.
_ANY_SURVEY = ""
# A survey that ends this soon and without any report does not count: its author found a mistake.
SECOND_THOUGHTS = timedelta(days=1)


def list_asked(question: ManifestQuestion) -> list[str]:
    """Return what a scrambled question asks, in reduced form; empty for other questions."""
    if not question.is_scrambled:
        return []
    return [
        "\n".join([find_skeleton(text), *sorted(map(find_skeleton, answers))])
        for text, answers in question.statements
    ]


def list_keys(asked: str, *, owner: int) -> list[bytes]:
    """List the keys of a reduced question, under the current secret key first and its fallbacks."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [_derive(asked, secret=secret, owner=owner) for secret in secrets]


def _derive(asked: str, *, secret: str, owner: int) -> bytes:
    key = hmac.digest(secret.encode(), _PURPOSE, "sha256")
    return hmac.digest(key, f"{owner}\n{asked}".encode(), hashlib.sha256)


def list_all(manifest: Manifest) -> set[str]:
    return {asked for question in manifest.questions for asked in list_asked(question)}


class AskedQuestionQuerySet(models.QuerySet["AskedQuestion"]):
    def of_others(
        self, *, keys: Iterable[bytes], survey: int | None, owner: int
    ) -> AskedQuestionQuerySet:
        """Find the rows with these keys in the owner's other surveys."""
        found = self.filter(key__in=list(keys), survey__owner=owner)
        return found.exclude(survey=survey)


class AskedQuestion(models.Model):
    """A question of a launched survey. Rehearsals and demos have no rows."""

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="asked_questions"
    )
    key = models.BinaryField(max_length=32)

    objects = AskedQuestionQuerySet.as_manager()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_question"
        constraints = [
            models.UniqueConstraint(fields=["key", "survey"], name="surveys_asked_question_once")
        ]

    def __str__(self) -> str:
        return bytes(self.key).hex()


class AskedBefore(models.Model):
    """How many deleted surveys of one owner asked a question. The key depends on the owner too."""

    key = models.BinaryField(primary_key=True, max_length=32)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    surveys = models.PositiveIntegerField()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_before"

    def __str__(self) -> str:
        return bytes(self.key).hex()


def record_questions(*, survey: int, owner: int, manifest: Manifest) -> None:
    """Store the keys of a survey's questions; rows that exist already are kept."""
    keys = {list_keys(asked, owner=owner)[0] for asked in list_all(manifest)}
    AskedQuestion.objects.bulk_create(
        (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)), ignore_conflicts=True
    )


def count_elsewhere(*, manifest: Manifest, survey: int | None, owner: int) -> int:
    """Count the owner's other launched surveys that share a question, deleted ones included.

    For deleted surveys, only the number that asked each question is stored. A deleted survey that
    shared several questions may therefore count several times. The result is never too small, and
    counts at most as many deleted surveys as the owner has.
    """
    asked = list_all(manifest)
    keys = [key for one in asked for key in list_keys(one, owner=owner)]
    others = AskedQuestion.objects.of_others(keys=keys, survey=survey, owner=owner)
    living = others.values_list(models.Value(b"", models.BinaryField()), "survey").distinct()
    # A single query, so that a survey that is deleted at the same time is in one of the two.
    rows = list(living.union(_find_deleted(asked, owner), all=True))
    counts = {bytes(key): surveys for key, surveys in rows if key}
    return len(rows) - len(counts) + _count_deleted(counts, owner)


def count_deleted(*, manifest: Manifest, owner: int) -> int:
    """Return an upper bound for the owner's deleted surveys that asked one of these questions."""
    found = _find_deleted(list_all(manifest), owner)
    return _count_deleted({bytes(key): surveys for key, surveys in found}, owner)


def _find_deleted(
    asked: Iterable[str], owner: int
) -> models.QuerySet[AskedBefore, tuple[Any, Any]]:
    keys = [key for one in {_ANY_SURVEY, *asked} for key in list_keys(one, owner=owner)]
    return AskedBefore.objects.filter(pk__in=keys).values_list("key", "surveys")


def _count_deleted(counts: Mapping[bytes, int], owner: int) -> int:
    most = sum(counts.get(key, 0) for key in list_keys(_ANY_SURVEY, owner=owner))
    return min(most, sum(counts.values()) - most)


def lock_owner(owner: int) -> None:
    """Serialize the launches and deletions of an owner until the commit.

    The manifest contains a count of the owner's other surveys. It must not miss one that is opened
    or deleted at the same time.
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=owner)


def remember_questions(*, survey: int, owner: int, manifests: Iterable[Manifest]) -> None:
    """Add a survey that is being deleted to its owner's counts, if it has rows.

    All counts of the owner are written anew, in the order of their keys. Otherwise, their places in
    the database's files would show which of them came from the same survey.
    """
    if not AskedQuestion.objects.filter(survey=survey).exists():
        return
    lock_owner(owner)
    rows = AskedBefore.objects.filter(owner=owner)
    counts = Counter({bytes(row.key): row.surveys for row in rows})
    asked = {_ANY_SURVEY}.union(*map(list_all, manifests))
    counts.update(list_keys(one, owner=owner)[0] for one in asked)
    rows.delete()
    AskedBefore.objects.bulk_create(
        AskedBefore(key=key, owner_id=owner, surveys=counts[key]) for key in sorted(counts)
    )


def forget_if_unanswered(*, survey: int, waves: Collection[int], lasted: timedelta) -> None:
    """Remove the rows of a survey that ended within a day of its launch, without any report.

    The caller has locked and closed its waves, so no report can follow.
    """
    # Looked up by name, because surveys does not import aggregator.
    reported = apps.get_model("aggregator", "SpentId")._default_manager.filter(wave__in=waves)
    if lasted < SECOND_THOUGHTS and not reported.exists():
        AskedQuestion.objects.filter(survey=survey).delete()
