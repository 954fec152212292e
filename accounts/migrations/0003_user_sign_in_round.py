from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_reset_mail'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='sign_in_round',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
