from typing import Any

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.exceptions import IrreversibleError

CANNOT = (
    "{count} opened surveys keep half of their reports sealed. The version before would show all. "
    "Delete these surveys first, or keep this version."
)


def refuse_halves(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse to go back where a manifest keeps half sealed: it would be shown."""
    waves: Any = apps.get_model("surveys", "Wave")
    count = waves.objects.filter(sealed_half=True).count()
    if count:
        raise IrreversibleError(CANNOT.format(count=count))


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0028_which_folder_counts_draws'),
        ('surveys', '0030_sealed_half'),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, refuse_halves),
        migrations.AddField(
            model_name='batch',
            name='is_held',
            field=models.BooleanField(default=False),
        ),
        migrations.RemoveIndex(model_name='batch', name='aggregator_batch_sizes'),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(fields=['wave', 'is_held', 'size'], name='aggregator_batch_sizes'),
        ),
        migrations.AddField(
            model_name='snapshot',
            name='is_half',
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name='comparison',
            name='kind',
            field=models.CharField(choices=[('table', 'Two questions'), ('regression', 'Outcome and predictors'), ('pairs', 'All pairs'), ('breakdown', 'Break down'), ('segments', 'Segments'), ('claim', 'Claim')], max_length=16),
        ),
        migrations.CreateModel(
            name='SealedHalf',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through_batch', models.PositiveIntegerField(default=0)),
                ('problem', models.TextField(blank=True)),
                ('claims', models.JSONField(default=list)),
                ('opened_on', models.DateField(null=True)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='half', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_sealed_half',
            },
        ),
    ]
