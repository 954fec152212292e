"""On SQLite, rebuild the two tables keyed by random ids as WITHOUT ROWID.

An ordinary SQLite table has a hidden rowid that counts up: it would show in which order reports
arrived. PostgreSQL has no such column.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLES = ("aggregator_raw_report", "aggregator_spent_id")


def drop_rowids(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(
                "SELECT type, sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL",
                [table],
            )
            statements = cursor.fetchall()
            cursor.execute(f'DROP TABLE "{table}"')
            for kind, sql in sorted(statements, reverse=True):  # the table before its indexes
                cursor.execute(f"{sql} WITHOUT ROWID" if kind == "table" else sql)


class Migration(migrations.Migration):
    dependencies = [("aggregator", "0001_initial")]

    operations = [migrations.RunPython(drop_rowids, migrations.RunPython.noop)]
