"""Key the hashes of what surveys ask, and count deleted surveys.

Until now, the hashes had no key, so that anyone with the database could guess a question. A table
that is dropped leaves none of them behind: PostgreSQL deletes its file, and SQLite overwrites its
pages (secure_delete). The new hashes are made of the frozen manifests.
"""

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

from surveys.asked_questions import SECOND_THOUGHTS, list_all, list_keys
from surveys.manifest.serialization import parse_manifest


def record(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    AskedQuestion = apps.get_model("surveys", "AskedQuestion")
    waves = apps.get_model("surveys", "Wave").objects.filter(
        survey__rehearsal=False, survey__demo=False
    )
    reported = apps.get_model("aggregator", "SpentId").objects.values("wave")
    # As at the close: a survey does not count that ended within a day, before any report.
    ended_soon = waves.filter(closed_at__lt=F("launched_at") + SECOND_THOUGHTS)
    answered = waves.filter(pk__in=reported)
    left_out = set(ended_soon.values_list("survey", flat=True)) - set(
        answered.values_list("survey", flat=True)
    )
    counted = waves.filter(mode="electronic").exclude(survey__in=left_out)
    for survey, owner, content in counted.values_list("survey", "survey__owner", "manifest"):
        manifest = parse_manifest(bytes(content))
        keys = {list_keys(asked, owner=owner)[0] for asked in list_all(manifest)}
        AskedQuestion.objects.bulk_create(
            (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)),
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("aggregator", "0014_releases"),
        ("surveys", "0017_protected_publication"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.DeleteModel(name="AskedQuestion"),
        migrations.CreateModel(
            name="AskedQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.BinaryField(max_length=32)),
                (
                    "survey",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="asked_questions",
                        to="surveys.survey",
                    ),
                ),
            ],
            options={
                "db_table": "surveys_asked_question",
                "constraints": [
                    models.UniqueConstraint(
                        fields=["key", "survey"], name="surveys_asked_question_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AskedBefore",
            fields=[
                (
                    "key",
                    models.BinaryField(max_length=32, primary_key=True, serialize=False),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("surveys", models.PositiveIntegerField()),
            ],
            options={"db_table": "surveys_asked_before"},
        ),
        migrations.RunPython(record, migrations.RunPython.noop),
    ]
