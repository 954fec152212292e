"""Let the database itself refuse to change what a wave was launched as."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FROZEN = (
    "survey_id", "number", "manifest", "manifest_hash", "minimum_batch", "display_minimum",
    "opens_at", "closes_at", "cap",
)
MESSAGE = "a launched wave cannot change"


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in FROZEN)
        schema_editor.execute(
            f"CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
        return
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in FROZEN)
    schema_editor.execute(
        "CREATE FUNCTION surveys_refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'restrict_violation'; END $$"
    )
    schema_editor.execute(
        "CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave FOR EACH ROW "
        f"WHEN ({changed}) EXECUTE FUNCTION surveys_refuse_change()"
    )


def thaw(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER surveys_wave_frozen")
        return
    schema_editor.execute("DROP TRIGGER surveys_wave_frozen ON surveys_wave")
    schema_editor.execute("DROP FUNCTION surveys_refuse_change")


class Migration(migrations.Migration):
    dependencies = [("surveys", "0001_initial")]

    operations = [migrations.RunPython(freeze, thaw)]
