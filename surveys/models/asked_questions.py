"""The scrambled questions that surveys ask, including surveys that were deleted.

The label counts the surveys of people who have or had a role on an opened survey. A question is
identified by a keyed hash of its text and its answers. Leading numbers, spaces, punctuation and
case make no difference. The rows of a survey are written at the launch. When the survey is deleted,
the counts for its people increase by one. The counts name neither surveys nor times
(docs/decisions/0056-the-label-does-not-forget.md, 0071-roles.md).
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models

from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import find_skeleton
from surveys.manifest.questions import ManifestQuestion
from surveys.models.people import find_people, surveys_of

# Separates these keys from all others that are derived from SECRET_KEY.
_PURPOSE = b"murmur: what an author's surveys ask"
# The count for the empty text covers all deleted surveys of the same people. No question has an
# empty text.
_ANY_SURVEY = ""
# A survey that ends within this time without any report does not count, because its author probably
# found a mistake.
SECOND_THOUGHTS = timedelta(days=1)


def list_asked(question: ManifestQuestion) -> list[str]:
    """Return what a scrambled question asks, in reduced form, or [] for other questions."""
    if not question.is_scrambled:
        return []
    asked = [
        "\n".join([find_skeleton(text), *sorted(map(find_skeleton, answers))])
        for text, answers in question.statements
    ]
    if question.score is not None:  # two scales may ask the same item with different answers
        asked += [find_skeleton(text) for text, _ in question.statements]
    return asked


def list_keys(asked: str, *, people: str = "") -> list[bytes]:
    """List the keys of a reduced question, first with the current secret key, then with fallbacks.

    The keys for counts of deleted surveys also depend on the people of these surveys.
    """
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [_derive(asked, secret=secret, people=people) for secret in secrets]


def _derive(asked: str, *, secret: str, people: str) -> bytes:
    key = hmac.digest(secret.encode(), _PURPOSE, "sha256")
    return hmac.digest(key, f"{people}\n{asked}".encode(), hashlib.sha256)


def list_all(manifest: Manifest) -> set[str]:
    return {asked for question in manifest.questions for asked in list_asked(question)}


class AskedQuestionQuerySet(models.QuerySet["AskedQuestion"]):
    def of_others(
        self, *, keys: Iterable[bytes], survey: int, people: Iterable[int]
    ) -> AskedQuestionQuerySet:
        """Find the rows with these keys in other surveys of these people."""
        return self.filter(surveys_of(people), key__in=list(keys)).exclude(survey=survey)


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


class AskedTogether(models.Model):
    """An account among the people of a deleted survey. The row is deleted with the account."""

    pk = models.CompositePrimaryKey("account_id", "people")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    people = models.TextField()  # numbers of accounts in order, such as 3,17

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_together"

    def __str__(self) -> str:
        return self.people


class AskedBefore(models.Model):
    """How many deleted surveys of the same people asked a question.

    `key` is computed from the question and the people.
    """

    key = models.BinaryField(primary_key=True, max_length=32)
    people = models.TextField(db_index=True)  # as in AskedTogether
    surveys = models.PositiveIntegerField()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_before"

    def __str__(self) -> str:
        return bytes(self.key).hex()


def record_questions(*, survey: int, manifest: Manifest) -> None:
    """Store the keys of a survey's questions; existing rows are kept."""
    keys = {list_keys(asked)[0] for asked in list_all(manifest)}
    AskedQuestion.objects.bulk_create(
        (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)), ignore_conflicts=True
    )


def count_elsewhere(*, manifest: Manifest, survey: int) -> int:
    """Count other launched surveys of the survey's people that share a question, even deleted ones.

    For each question, only the number of deleted surveys that asked it is stored. Thus a deleted
    survey that shared several questions may count several times. The result is never too small, and
    counts at most as many deleted surveys as these people have.
    """
    # The accounts are listed first, because Django takes twice as long to write SQL with
    # subqueries.
    people, asked = list(find_people(survey)), list_all(manifest)
    keys = [key for one in asked for key in list_keys(one)]
    others = AskedQuestion.objects.of_others(keys=keys, survey=survey, people=people)
    living = others.values_list(models.Value("", models.TextField()), "survey")
    # This single query runs before the counts are read, so that a survey that is deleted at the
    # same time is either found here or included in the counts.
    rows = list(living.union(_find_groups(people).values_list("people", models.Value(0))))
    groups = [people for people, _ in rows if people]
    return len(rows) - len(groups) + _count_deleted(asked, groups)


def count_deleted(*, manifest: Manifest, survey: int) -> int:
    """Return an upper bound on how many deleted surveys of the same people shared a question."""
    groups = _find_groups(find_people(survey)).values_list("people", flat=True).distinct()
    return _count_deleted(list_all(manifest), list(groups))


def _find_groups(people: Iterable[int]) -> models.QuerySet[AskedTogether]:
    """Find the groups of people of deleted surveys that include one of these people."""
    return AskedTogether.objects.filter(account__in=people)


def _count_deleted(asked: Iterable[str], groups: Collection[str]) -> int:
    if not groups:
        return 0
    texts = {_ANY_SURVEY, *asked}
    keys = [key for people in groups for one in texts for key in list_keys(one, people=people)]
    rows = AskedBefore.objects.filter(pk__in=keys).values_list("key", "surveys")
    counts = {bytes(key): surveys for key, surveys in rows}
    whole = [key for people in groups for key in list_keys(_ANY_SURVEY, people=people)]
    most = sum(counts.get(key, 0) for key in whole)
    return min(most, sum(counts.values()) - most)


def lock_people(people: Iterable[int]) -> None:
    """Serialize the launches and deletions of these people's surveys until the commit.

    The manifest contains a count of their other surveys. The count must not miss a survey that is
    opened or deleted at the same time.
    """
    locked = get_user_model().objects.select_for_update(no_key=True).filter(pk__in=list(people))
    list(locked.order_by("pk").values_list("pk"))


def remember_questions(*, survey: int, manifests: Iterable[Manifest]) -> None:
    """Add a survey that is being deleted to the counts of its people, if it has rows.

    All counts for these people are rewritten, sorted by key. Otherwise, the positions of counts in
    the database's files would show which counts came from the same survey.
    """
    if not AskedQuestion.objects.filter(survey=survey).exists():
        return
    accounts = sorted(find_people(survey))
    lock_people(accounts)
    people = ",".join(map(str, accounts))
    AskedTogether.objects.bulk_create(
        (AskedTogether(account_id=account, people=people) for account in accounts),
        ignore_conflicts=True,
    )
    rows = AskedBefore.objects.filter(people=people)
    counts = Counter({bytes(row.key): row.surveys for row in rows})
    asked = {_ANY_SURVEY}.union(*map(list_all, manifests))
    counts.update(list_keys(one, people=people)[0] for one in asked)
    rows.delete()
    AskedBefore.objects.bulk_create(
        AskedBefore(key=key, people=people, surveys=counts[key]) for key in sorted(counts)
    )


def forget_groups_of(account: int) -> None:
    """Before an account is deleted, delete the counts of groups with no other account left."""
    mine = AskedTogether.objects.filter(account=account)
    others = AskedTogether.objects.exclude(account=account).values("people")
    gone = mine.exclude(people__in=others).values_list("people", flat=True)
    AskedBefore.objects.filter(people__in=list(gone)).delete()
    mine.delete()


def forget_if_unanswered(*, survey: int, waves: Collection[int], lasted: timedelta) -> None:
    """Remove the rows of a survey that ended within a day of its launch, without any report.

    The caller must already have locked and closed the survey's waves, so that no more reports can
    arrive.
    """
    # The model is looked up by name, because surveys does not import aggregator.
    reported = apps.get_model("aggregator", "SpentId")._default_manager.filter(wave__in=waves)
    if lasted < SECOND_THOUGHTS and not reported.exists():
        AskedQuestion.objects.filter(survey=survey).delete()
