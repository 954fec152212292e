"""What anybody sees moves only at looks; see aggregator.results.looks."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def keep_what_was_shown(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Each snapshot so far is a look: no page may go back to fewer reports."""
    snapshots = apps.get_model("aggregator", "Snapshot").objects
    snapshots.update(looks_from=F("through_batch"), decided_through=F("through_batch"))


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0008_no_statistics_of_batches'),
    ]

    operations = [
        migrations.AddField(
            model_name='snapshot',
            name='decided_through',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='snapshot',
            name='looks',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='snapshot',
            name='looks_from',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(keep_what_was_shown, migrations.RunPython.noop),
    ]
