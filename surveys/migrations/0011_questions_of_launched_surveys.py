"""Fill in which questions the surveys ask that were launched before these were recorded."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from surveys.asked_questions import list_keys
from surveys.manifest.serialization import parse_manifest


def record(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    AskedQuestion = apps.get_model("surveys", "AskedQuestion")
    waves = apps.get_model("surveys", "Wave").objects.filter(
        mode="electronic", survey__rehearsal=False
    )
    for survey, content in waves.values_list("survey", "manifest").iterator():
        questions = parse_manifest(bytes(content)).questions
        keys = {key for question in questions for key in list_keys(question)}
        AskedQuestion.objects.bulk_create(
            (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)),
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [("surveys", "0010_asked_questions")]

    operations = [migrations.RunPython(record, migrations.RunPython.noop)]
