"""Which scrambled questions an author's surveys ask, and asked before they were deleted.

A question is found by a keyed hash of its owner, of what it asks and of its answers, without
numbers, spaces, punctuation and case. The rows of a survey are written at the launch. When it is
deleted, one is added to the owner's counts, which name no survey and no moment
(docs/decisions/0056-the-label-does-not-forget.md).
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

# Parts keys from everything else that is made with SECRET_KEY.
_PURPOSE = b"murmur: what an author's surveys ask"
# Its count is that of the owner's deleted surveys. No question has an empty text.
_ANY_SURVEY = ""
# A survey that ends so soon, without any report, asked nobody: its author found a mistake.
SECOND_THOUGHTS = timedelta(days=1)


def list_asked(question: ManifestQuestion) -> list[str]:
    """Reduce each thing that a scrambled question asks; nothing for other questions."""
    if not question.is_scrambled:
        return []
    return [
        "\n".join([find_skeleton(text), *sorted(map(find_skeleton, answers))])
        for text, answers in question.statements
    ]


def list_keys(asked: str, *, owner: int) -> list[bytes]:
    """List the keys of what is asked: today's, and those of secret keys that were replaced."""
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
        """The rows with these keys in other surveys of the same owner."""
        found = self.filter(key__in=list(keys), survey__owner=owner)
        return found.exclude(survey=survey)


class AskedQuestion(models.Model):
    """A question of a survey that was launched; rehearsals and demos have none."""

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
    """How many deleted surveys of one owner asked something. The key depends on the owner too."""

    key = models.BinaryField(primary_key=True, max_length=32)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    surveys = models.PositiveIntegerField()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_before"

    def __str__(self) -> str:
        return bytes(self.key).hex()


def record_questions(*, survey: int, owner: int, manifest: Manifest) -> None:
    """Store the keys of a survey's questions; those that are stored already stay."""
    keys = {list_keys(asked, owner=owner)[0] for asked in list_all(manifest)}
    AskedQuestion.objects.bulk_create(
        (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)), ignore_conflicts=True
    )


def count_elsewhere(*, manifest: Manifest, survey: int | None, owner: int) -> int:
    """Count the owner's other launched surveys that share a question, deleted ones included.

    Of deleted surveys, only how many asked each question is known. If they shared several with
    this one, they may count too often, but never more often than there are. None is left out.
    """
    asked = list_all(manifest)
    keys = [key for one in asked for key in list_keys(one, owner=owner)]
    others = AskedQuestion.objects.of_others(keys=keys, survey=survey, owner=owner)
    living = others.values_list(models.Value(b"", models.BinaryField()), "survey").distinct()
    # One query, so that a survey that is deleted meanwhile is among either.
    rows = list(living.union(_find_deleted(asked, owner), all=True))
    counts = {bytes(key): surveys for key, surveys in rows if key}
    return len(rows) - len(counts) + _count_deleted(counts, owner)


def count_deleted(*, manifest: Manifest, owner: int) -> int:
    """Count the owner's deleted surveys that asked one of these questions, at most."""
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
    """Let an owner's launches and deletions happen one after another, until the commit.

    A launch freezes a number. It must not miss a survey that is deleted, or opened, meanwhile.
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=owner)


def remember_questions(*, survey: int, owner: int, manifests: Iterable[Manifest]) -> None:
    """Add a survey that is being deleted to its owner's counts, if it counted until now.

    All rows of the owner are written anew, in the order of their keys. Otherwise, their places in
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
    """No longer count a survey that ended within a day of its launch, before any report.

    Its waves are locked and closed, so no report can follow.
    """
    # By name, because this room does not know the one that stores reports.
    reported = apps.get_model("aggregator", "SpentId")._default_manager.filter(wave__in=waves)
    if lasted < SECOND_THOUGHTS and not reported.exists():
        AskedQuestion.objects.filter(survey=survey).delete()
