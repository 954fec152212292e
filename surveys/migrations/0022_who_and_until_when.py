"""A privacy notice, an approval, and the day on which a survey is deleted, which nobody can move."""

import importlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_FIRST = importlib.import_module("surveys.migrations.0001_squashed_0021_stored_texts")


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Freeze the day too."""
    _freeze_columns(schema_editor, (*_FIRST.FROZEN, "delete_on"))


def freeze_as_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _freeze_columns(schema_editor, _FIRST.FROZEN)


def _freeze_columns(schema_editor: BaseDatabaseSchemaEditor, columns: tuple[str, ...]) -> None:
    """Create the trigger again. On SQLite, rebuilding the table may have dropped it."""
    if schema_editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns)
        schema_editor.execute("DROP TRIGGER IF EXISTS surveys_wave_frozen")
        schema_editor.execute(
            f"CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{_FIRST.MESSAGE}'); END"
        )
        return
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in columns)
    schema_editor.execute("DROP TRIGGER surveys_wave_frozen ON surveys_wave")
    schema_editor.execute(
        "CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave FOR EACH ROW "
        f"WHEN ({changed}) EXECUTE FUNCTION surveys_refuse_change()"
    )


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0001_squashed_0021_stored_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='survey',
            name='approval',
            field=models.CharField(blank=True, max_length=80),
        ),
        migrations.AddField(
            model_name='survey',
            name='delete_on',
            field=models.DateField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='survey',
            name='deletion_mail_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='survey',
            name='notice_url',
            field=models.CharField(blank=True, max_length=200),
        ),
        # Reversing this on SQLite rebuilds the table, which drops its trigger.
        migrations.RunPython(migrations.RunPython.noop, freeze_as_before),
        migrations.AddField(
            model_name='wave',
            name='delete_on',
            field=models.DateField(null=True),
        ),
        migrations.RunPython(freeze, freeze_as_before),
        migrations.AddIndex(
            model_name='survey',
            index=models.Index(condition=models.Q(('deletion_mail_at__isnull', False)), fields=['deletion_mail_at'], name='surveys_survey_mail_due'),
        ),
        migrations.AddIndex(
            model_name='wave',
            index=models.Index(condition=models.Q(('delete_on__isnull', False)), fields=['delete_on'], name='surveys_wave_delete_due'),
        ),
    ]
