"""The history of a survey, which the database itself keeps from being changed or shortened."""

import django.core.serializers.json
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLES = ("surveys_history", "surveys_history_changes")
MESSAGE = "the history of a survey cannot change"
# Whether the row that a row of changes belongs to is still kept, and its survey is not deleted. It does
# not look for the survey: on SQLite, a trigger that names a table keeps it from being rebuilt.
IS_NEEDED = (
    "EXISTS (SELECT 1 FROM surveys_history WHERE slug = OLD.slug AND number = OLD.number) AND NOT "
    "EXISTS (SELECT 1 FROM surveys_history WHERE slug = OLD.slug AND verb IN ('deleted', 'expired'))"
)
REFUSE = f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
SQLITE = (
    f"surveys_history_fixed BEFORE UPDATE ON surveys_history {REFUSE}",
    "surveys_history_kept BEFORE DELETE ON surveys_history "
    f"WHEN OLD.kept_until >= date('now') {REFUSE}",
    # INSERT OR REPLACE would delete a row without calling the trigger above.
    "surveys_history_last BEFORE INSERT ON surveys_history WHEN NEW.number <= "
    f"(SELECT max(number) FROM surveys_history WHERE slug = NEW.slug) {REFUSE}",
    f"surveys_history_changes_fixed BEFORE UPDATE ON surveys_history_changes {REFUSE}",
    "surveys_history_changes_kept BEFORE DELETE ON surveys_history_changes "
    f"WHEN {IS_NEEDED} {REFUSE}",
    "surveys_history_changes_new BEFORE INSERT ON surveys_history_changes WHEN EXISTS (SELECT 1 "
    "FROM surveys_history_changes WHERE slug = NEW.slug AND number = NEW.number) "
    f"{REFUSE}",
)
RAISE = f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'restrict_violation';"
POSTGRESQL = (
    "FUNCTION surveys_history_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN {RAISE} END $$",
    # A WHEN clause cannot read other tables.
    "FUNCTION surveys_history_refuse_if_needed() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN IF {IS_NEEDED} THEN {RAISE} END IF; RETURN OLD; END $$",
    # A row may be written again as it is (surveys.history.upkeep).
    *(
        f"TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH {scope} "
        "EXECUTE FUNCTION surveys_history_refuse()"
        for table in TABLES
        for name, event, scope in (
            ("fixed", "UPDATE", "ROW WHEN (OLD IS DISTINCT FROM NEW)"),
            ("whole", "TRUNCATE", "STATEMENT"),
        )
    ),
    "TRIGGER surveys_history_kept BEFORE DELETE ON surveys_history FOR EACH ROW "
    "WHEN (OLD.kept_until >= (now() AT TIME ZONE 'utc')::date) "
    "EXECUTE FUNCTION surveys_history_refuse()",
    "TRIGGER surveys_history_changes_kept BEFORE DELETE ON surveys_history_changes FOR EACH ROW "
    "EXECUTE FUNCTION surveys_history_refuse_if_needed()",
)


def guard(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse changes. Whatever rebuilds a table on SQLite later drops its triggers."""
    if schema_editor.connection.vendor == "sqlite":
        _drop_rowids(schema_editor)
        for trigger in SQLITE:
            schema_editor.execute(f"CREATE TRIGGER {trigger}")
        return
    for thing in POSTGRESQL:
        schema_editor.execute(f"CREATE {thing}")


def _drop_rowids(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Rebuild the empty tables as WITHOUT ROWID.

    A hidden rowid would show in which order people acted on different surveys, and INSERT OR
    REPLACE could name one to remove a row.
    """
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


def drop_functions(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop what stays when the tables go: they take their triggers with them."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION surveys_history_refuse CASCADE")
        schema_editor.execute("DROP FUNCTION surveys_history_refuse_if_needed CASCADE")


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0030_sealed_half'),
    ]

    operations = [
        migrations.CreateModel(
            name='HistoryChanges',
            fields=[
                ('pk', models.CompositePrimaryKey('slug', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=12)),
                ('number', models.PositiveIntegerField()),
                ('changes', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
            ],
            options={
                'db_table': 'surveys_history_changes',
            },
        ),
        migrations.CreateModel(
            name='HistoryRow',
            fields=[
                ('pk', models.CompositePrimaryKey('slug', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=12)),
                ('number', models.PositiveIntegerField()),
                ('day', models.DateField()),
                ('kept_until', models.DateField(db_index=True)),
                ('account', models.BigIntegerField(null=True)),
                ('verb', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=24)),
            ],
            options={
                'db_table': 'surveys_history',
                'indexes': [models.Index(fields=['slug', 'verb', 'account', 'day'], name='surveys_history_once')],
            },
        ),
        migrations.RunPython(guard, drop_functions),
    ]
