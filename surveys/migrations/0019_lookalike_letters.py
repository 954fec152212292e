"""Key again what surveys ask, because more texts count as the same.

The keys are made of the frozen manifests. Those of deleted surveys cannot be made again: their
counts stay, but match only what reduces to the same text as before.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from surveys.asked_questions import list_all, list_keys
from surveys.manifest.serialization import parse_manifest


def key_again(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    AskedQuestion = apps.get_model("surveys", "AskedQuestion")
    waves = apps.get_model("surveys", "Wave").objects.filter(mode="electronic")
    # Only surveys that have rows: one that ended before any report has none.
    for survey in list(AskedQuestion.objects.values_list("survey", flat=True).distinct()):
        described = waves.filter(survey=survey).values_list("survey__owner", "manifest")
        keys = {
            list_keys(asked, owner=owner)[0]
            for owner, content in described
            for asked in list_all(parse_manifest(bytes(content)))
        }
        AskedQuestion.objects.filter(survey=survey).delete()
        AskedQuestion.objects.bulk_create(
            AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)
        )


class Migration(migrations.Migration):
    dependencies = [("surveys", "0018_asked_before")]

    operations = [migrations.RunPython(key_again, migrations.RunPython.noop)]
