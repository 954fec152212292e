"""On PostgreSQL, keep ANALYZE from copying ids and symbols of raw reports into the statistics.

There they would outlive sealing: a histogram holds up to a hundred sampled values.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

COLUMNS = (
    ("aggregator_raw_report", "id"),
    ("aggregator_raw_report", "symbols"),
    ("aggregator_spent_id", "id"),
)


def keep_no_statistics(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, column in COLUMNS:
        schema_editor.execute(f'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET STATISTICS 0')


class Migration(migrations.Migration):
    dependencies = [("aggregator", "0004_due_work_and_upkeep")]

    operations = [migrations.RunPython(keep_no_statistics, migrations.RunPython.noop)]
