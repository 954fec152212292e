import importlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_LAST = importlib.import_module("surveys.migrations.0022_who_and_until_when")
_BEFORE = importlib.import_module("surveys.migrations.0025_planned_alerts")
FROZEN = (*_BEFORE.FROZEN, "planned_alerts")


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Freeze whether a half is sealed, too."""
    _LAST._freeze_columns(schema_editor, (*FROZEN, "sealed_half"))


def freeze_as_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _LAST._freeze_columns(schema_editor, FROZEN)


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0029_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='survey',
            name='sealed_half',
            field=models.BooleanField(default=False),
        ),
        # Reversing this on SQLite rebuilds the table, which drops its trigger.
        migrations.RunPython(migrations.RunPython.noop, freeze_as_before),
        migrations.AddField(
            model_name='wave',
            name='sealed_half',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(freeze, freeze_as_before),
    ]
