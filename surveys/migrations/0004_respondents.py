"""Languages, leaving at once, a closing message, and the stratum of those who toss coins."""

import importlib

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_FROZEN = importlib.import_module("surveys.migrations.0002_frozen_waves")


FROZEN = (*_FROZEN.FROZEN, "mode")


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Freeze the mode too."""
    freeze_columns(schema_editor, FROZEN)


def freeze_columns(
    schema_editor: BaseDatabaseSchemaEditor, columns: tuple[str, ...]
) -> None:
    """Make the trigger anew. On SQLite the table was made anew before, without it."""
    if schema_editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns)
        schema_editor.execute("DROP TRIGGER IF EXISTS surveys_wave_frozen")
        schema_editor.execute(
            f"CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{_FROZEN.MESSAGE}'); END"
        )
        return
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in columns)
    schema_editor.execute("DROP TRIGGER surveys_wave_frozen ON surveys_wave")
    schema_editor.execute(
        "CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave FOR EACH ROW "
        f"WHEN ({changed}) EXECUTE FUNCTION surveys_refuse_change()"
    )


def freeze_as_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER IF EXISTS surveys_wave_frozen")
        _FROZEN.freeze(apps, schema_editor)
        return
    _FROZEN.thaw(apps, schema_editor)
    _FROZEN.freeze(apps, schema_editor)


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0003_question_types'),
    ]

    operations = [
        # On SQLite the table is made anew on the way back too, and loses its trigger.
        migrations.RunPython(migrations.RunPython.noop, freeze_as_before),
        migrations.CreateModel(
            name='Translation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(choices=[('en', 'English'), ('es', 'Español'), ('fr', 'Français'), ('de', 'Deutsch'), ('ar', 'العربية'), ('zh-hans', '简体中文')], max_length=10)),
                ('texts', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'ordering': ['language'],
            },
        ),
        migrations.AlterModelOptions(
            name='wave',
            options={'ordering': ['survey', 'number', 'mode']},
        ),
        migrations.RemoveConstraint(
            model_name='wave',
            name='surveys_wave_number',
        ),
        migrations.AddField(
            model_name='survey',
            name='closing_message',
            field=models.TextField(blank=True, max_length=1000),
        ),
        migrations.AddField(
            model_name='survey',
            name='coins',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='survey',
            name='language',
            field=models.CharField(choices=[('en', 'English'), ('es', 'Español'), ('fr', 'Français'), ('de', 'Deutsch'), ('ar', 'العربية'), ('zh-hans', '简体中文')], default='en', max_length=10),
        ),
        migrations.AddField(
            model_name='survey',
            name='quick_exit',
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name='wave',
            name='mode',
            field=models.CharField(choices=[('electronic', 'Electronic'), ('manual', 'Two coins')], default='electronic', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='wave',
            constraint=models.UniqueConstraint(fields=('survey', 'number', 'mode'), name='surveys_wave_number_and_mode'),
        ),
        migrations.AddField(
            model_name='translation',
            name='survey',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='translations', to='surveys.survey'),
        ),
        migrations.AddConstraint(
            model_name='translation',
            constraint=models.UniqueConstraint(fields=('survey', 'language'), name='surveys_translation_language'),
        ),
        migrations.RunPython(freeze, freeze_as_before),
    ]
