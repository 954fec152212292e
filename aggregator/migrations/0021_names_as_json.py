from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def split_names(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    model: Any = apps.get_model('aggregator', 'Comparison')
    comparisons = model.objects.using(editor.connection.alias)
    for pk, questions in comparisons.exclude(questions='').values_list('pk', 'questions'):
        comparisons.filter(pk=pk).update(names=questions.split(','))


def join_names(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    model: Any = apps.get_model('aggregator', 'Comparison')
    comparisons = model.objects.using(editor.connection.alias)
    for pk, names in comparisons.values_list('pk', 'names'):
        comparisons.filter(pk=pk).update(questions=','.join(names))


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0001_squashed_0020_what_sweeps_read_is_indexed'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='comparison',
            name='aggregator_comparison_once',
        ),
        migrations.AddField(
            model_name='comparison',
            name='names',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.RunPython(split_names, join_names, elidable=True),
        migrations.RemoveField(
            model_name='comparison',
            name='questions',
        ),
        migrations.AddConstraint(
            model_name='comparison',
            constraint=models.UniqueConstraint(fields=('wave', 'through_batch', 'method_version', 'kind', 'names'), name='aggregator_comparison_once'),
        ),
    ]
