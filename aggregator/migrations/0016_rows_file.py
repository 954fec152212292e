import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0015_smallest_crowd'),
        ('surveys', '0018_asked_before'),
    ]

    operations = [
        migrations.CreateModel(
            name='RowsFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('proposed', models.JSONField()),
                ('smallest', models.PositiveIntegerField()),
                ('has_files_of_blocks', models.BooleanField()),
                ('chosen', models.JSONField(null=True)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rows_file', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_rows_file',
            },
        ),
    ]
