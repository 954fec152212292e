"""Figures need a crowd of 3 K reports; what an earlier version showed with fewer stays shown."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_what_was_shown(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    snapshots = apps.get_model("aggregator", "Snapshot").objects
    shown = snapshots.filter(total__gte=models.F("wave__display_minimum"))
    newest = dict(shown.order_by("through_batch").values_list("wave", "pk"))  # the last one wins
    for snapshot in snapshots.filter(pk__in=list(newest.values())).only("final"):
        snapshots.filter(pk=snapshot.pk).update(earlier_final=snapshot.final)


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0014_releases'),
        ('surveys', '0017_protected_publication'),
    ]

    operations = [
        migrations.AddField(
            model_name='snapshot',
            name='earlier_final',
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(keep_what_was_shown, migrations.RunPython.noop),
    ]
