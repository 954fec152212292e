from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("aggregator", "0030_claims_about_groups")]

    operations = [
        migrations.AddField(
            model_name="sealedhalf",
            name="asked_on",
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name="sealedhalf",
            name="obstacle",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
    ]
