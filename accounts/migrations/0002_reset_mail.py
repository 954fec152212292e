from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ResetMail',
            fields=[
                ('account', models.BigIntegerField(primary_key=True, serialize=False)),
                ('asked_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'db_table': 'accounts_reset_mail',
            },
        ),
    ]
