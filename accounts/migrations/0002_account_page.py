import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_squashed_0003_user_sign_in_round'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='name',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.CreateModel(
            name='AddressChange',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to=settings.AUTH_USER_MODEL)),
                ('new_email', models.EmailField(max_length=254)),
                ('asked_at', models.DateTimeField()),
                ('old_confirmed', models.BooleanField(default=False)),
                ('new_confirmed', models.BooleanField(default=False)),
            ],
            options={
                'db_table': 'accounts_address_change',
            },
        ),
        # Its rows live for a day at most. People who still wait for such a mail ask again.
        migrations.DeleteModel(
            name='ResetMail',
        ),
        migrations.CreateModel(
            name='AccountMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.BigIntegerField()),
                ('kind', models.CharField(max_length=20)),
                ('asked_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'db_table': 'accounts_mail',
                'constraints': [models.UniqueConstraint(fields=('account', 'kind'), name='accounts_mail_once')],
            },
        ),
    ]
