"""A question may share a page with the one before it, if both have the same answers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0036_confirm_answers")]

    operations = [
        migrations.AddField(
            model_name="question", name="together", field=models.BooleanField(default=False)
        )
    ]
