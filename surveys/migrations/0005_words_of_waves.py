"""Each wave keeps the words of its other languages beside its manifest, which names their hashes."""

import importlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_RESPONDENTS = importlib.import_module("surveys.migrations.0004_respondents")


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Freeze the words too."""
    _RESPONDENTS.freeze_columns(schema_editor, (*_RESPONDENTS.FROZEN, "words"))


def freeze_as_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _RESPONDENTS.freeze_columns(schema_editor, _RESPONDENTS.FROZEN)


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0004_respondents'),
    ]

    operations = [
        # On SQLite the table is made anew on the way back too, and loses its trigger.
        migrations.RunPython(migrations.RunPython.noop, freeze_as_before),
        migrations.AddField(
            model_name='wave',
            name='words',
            field=models.JSONField(default=dict),
        ),
        migrations.RunPython(freeze, freeze_as_before),
    ]
