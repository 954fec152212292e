"""A planned comparison may have several predictors, so it is a list of answers."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def list_answers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    model: Any = apps.get_model("surveys", "PlannedComparison")
    for plan in model.objects.all():
        plan.answers = [[plan.outcome_id, plan.outcome_part], [plan.group_id, plan.group_part]]
        plan.save(update_fields=["answers"])


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
        migrations.RunPython(list_answers),
        migrations.RemoveField(model_name='plannedcomparison', name='outcome'),
        migrations.RemoveField(model_name='plannedcomparison', name='outcome_part'),
        migrations.RemoveField(model_name='plannedcomparison', name='group'),
        migrations.RemoveField(model_name='plannedcomparison', name='group_part'),
    ]
