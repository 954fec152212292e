from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('aggregator', '0018_due_work_is_indexed'),
    ]

    operations = [
        migrations.AddField(
            model_name='rowsfile',
            name='crosses_files',
            field=models.BooleanField(default=False),
        ),
    ]
