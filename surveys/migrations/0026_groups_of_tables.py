import json
from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.exceptions import IrreversibleError

CANNOT = (
    "{count} opened surveys plan tables by groups, which the version before cannot read. Delete "
    "these surveys first, or keep this version."
)


def drop_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop what drafts plan; refuse to go back where a manifest has a table by groups."""
    waves: Any = apps.get_model("surveys", "Wave")
    manifests = waves.objects.filter(planned_releases__gt=0).values_list("manifest", flat=True)
    count = sum(
        any("group" in one for one in json.loads(bytes(manifest))["planned_releases"])
        for manifest in manifests.iterator()
    )
    if count:
        raise IrreversibleError(CANNOT.format(count=count))
    planned: Any = apps.get_model("surveys", "PlannedRelease")
    planned.objects.filter(group__isnull=False).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0025_planned_alerts'),
    ]

    operations = [
        migrations.AddField(
            model_name='plannedrelease',
            name='group',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.RunPython(migrations.RunPython.noop, drop_groups),
    ]
