import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # A database may have all of these or none (aggregator/upkeep/upgrades.py).
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_reset_mail"),
        ("accounts", "0003_user_sign_in_round"),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
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
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='e-mail address')),
                ('is_active', models.BooleanField(default=True)),
                ('sign_in_round', models.PositiveIntegerField(db_default=0, default=0)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='accounts_user_email_caseless')],
            },
        ),
    ]
