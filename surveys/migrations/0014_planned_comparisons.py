"""Drafts plan comparisons. Each wave counts those that its manifest freezes, for the sweep."""

import importlib

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_RESPONDENTS = importlib.import_module("surveys.migrations.0004_respondents")
_BEFORE = (*_RESPONDENTS.FROZEN, "words")


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Freeze the number too."""
    _RESPONDENTS.freeze_columns(schema_editor, (*_BEFORE, "planned_comparisons"))


def freeze_as_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _RESPONDENTS.freeze_columns(schema_editor, _BEFORE)


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0013_people_invited'),
    ]

    operations = [
        # Reversing this on SQLite rebuilds the table, which drops its trigger.
        migrations.RunPython(migrations.RunPython.noop, freeze_as_before),
        migrations.AddField(
            model_name='wave',
            name='planned_comparisons',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.RunPython(freeze, freeze_as_before),
        migrations.CreateModel(
            name='PlannedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome_part', models.CharField(blank=True, max_length=12)),
                ('group_part', models.CharField(blank=True, max_length=12)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surveys.question')),
                ('outcome', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surveys.question')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='planned_comparisons', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_planned_comparison',
                'ordering': ['pk'],
            },
        ),
    ]
