from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("aggregator", "0001_squashed_0029_sealed_half")]

    operations = [
        migrations.AddField(
            model_name="sealedhalf",
            name="has_groups",
            field=models.BooleanField(default=False),
        ),
    ]
