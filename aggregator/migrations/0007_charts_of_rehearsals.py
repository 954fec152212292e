"""Charts of rehearsals are rendered again, now with a line that says what they are."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def delete_charts(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The next sweep finds that they are missing."""
    charts = apps.get_model("aggregator", "Chart")  # type: ignore[misc]  # deleted since
    charts.objects.filter(wave__survey__rehearsal=True).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0006_verify_claim'),
        ('surveys', '0007_rehearsals'),
    ]

    operations = [
        migrations.RunPython(delete_charts, migrations.RunPython.noop),
    ]
