import json
from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.exceptions import IrreversibleError

CANNOT = (
    "{count} opened surveys plan tables by groups, whose counts the version before cannot keep. "
    "Delete these surveys first, or keep this version."
)


def refuse_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse to go back where a manifest has a table by groups: its counts would be forgotten."""
    waves: Any = apps.get_model("surveys", "Wave")
    manifests = waves.objects.filter(planned_releases__gt=0).values_list("manifest", flat=True)
    count = sum(
        any("group" in one for one in json.loads(bytes(manifest))["planned_releases"])
        for manifest in manifests.iterator()
    )
    if count:
        raise IrreversibleError(CANNOT.format(count=count))


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0024_alerts'),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, refuse_groups),
        migrations.AddField(
            model_name='discard',
            name='grouped',
            field=models.JSONField(default=dict),
        ),
    ]
