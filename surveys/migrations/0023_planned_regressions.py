"""A planned comparison may have several predictors, so it is a list of answers."""

from typing import Any

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def list_answers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    model: Any = apps.get_model("surveys", "PlannedComparison")
    for plan in model.objects.all():
        plan.answers = [[plan.outcome_id, plan.outcome_part], [plan.group_id, plan.group_part]]
        plan.save(update_fields=["answers"])


def name_two(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Restore the columns; a regression goes, because the version before has none."""
    model: Any = apps.get_model("surveys", "PlannedComparison")
    for plan in model.objects.all():
        outcome, *others = plan.answers
        if len(others) > 1 or others[0][1] in ("all", "points"):
            plan.delete()
            continue
        (plan.outcome_id, plan.outcome_part), (plan.group_id, plan.group_part) = outcome, others[0]
        plan.save()
    if schema_editor.connection.vendor == "postgresql":
        # Otherwise the checks of these keys still wait when the table is altered.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _refer(*, null: bool) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(
        null=null,
        on_delete=django.db.models.deletion.CASCADE,
        related_name="+",
        to="surveys.question",
    )


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0022_who_and_until_when'),
    ]

    operations = [
        migrations.AddField(
            model_name='plannedcomparison',
            name='answers',
            field=models.JSONField(default=list),
            preserve_default=False,
        ),
        # Backwards, the columns are there before they have values.
        migrations.AlterField('plannedcomparison', 'outcome', _refer(null=True)),
        migrations.AlterField('plannedcomparison', 'group', _refer(null=True)),
        migrations.RunPython(list_answers, name_two),
        migrations.RemoveField(model_name='plannedcomparison', name='outcome'),
        migrations.RemoveField(model_name='plannedcomparison', name='outcome_part'),
        migrations.RemoveField(model_name='plannedcomparison', name='group'),
        migrations.RemoveField(model_name='plannedcomparison', name='group_part'),
    ]
