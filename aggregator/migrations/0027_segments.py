from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def delete_segments(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Delete what the version before cannot show, and would count as one request."""
    model: Any = apps.get_model("aggregator", "Comparison")
    model.objects.filter(kind="segments").delete()


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0026_key_drivers'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='comparison',
            name='aggregator_comparison_once',
        ),
        migrations.AddField(
            model_name='comparison',
            name='segments',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name='comparison',
            name='kind',
            field=models.CharField(choices=[('table', 'Two questions'), ('regression', 'Outcome and predictors'), ('pairs', 'All pairs'), ('breakdown', 'Break down'), ('segments', 'Segments')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='comparison',
            constraint=models.UniqueConstraint(fields=('wave', 'through_batch', 'method_version', 'kind', 'names', 'segments'), name='aggregator_comparison_once'),
        ),
        migrations.RunPython(migrations.RunPython.noop, delete_segments),
    ]
