"""On PostgreSQL, keep ANALYZE from copying batches into the statistics, and drop what is there.

There they would outlive a survey that is deleted with its data.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLE, COLUMN = "aggregator_batch", "packed"


def keep_no_statistics(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(f'ALTER TABLE "{TABLE}" ALTER COLUMN "{COLUMN}" SET STATISTICS 0')
    # The type stays the same, so nothing is rewritten; but this also drops the old statistics.
    schema_editor.execute(f'ALTER TABLE "{TABLE}" ALTER COLUMN "{COLUMN}" TYPE bytea')


class Migration(migrations.Migration):
    dependencies = [("aggregator", "0007_charts_of_rehearsals")]

    operations = [migrations.RunPython(keep_no_statistics, migrations.RunPython.noop)]
