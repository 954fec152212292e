"""Rehearsals are marked, also those that were made before there was a mark."""

from datetime import timedelta

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

TITLE = "Rehearsal of "
# `manage.py rehearse` makes and opens the copy in one transaction. Nobody is as fast by hand.
AT_ONCE = timedelta(seconds=5)


def mark_rehearsals(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark what only the command can have made.

    The title alone is not enough: an author may give it to a survey that people answered.
    """
    apps.get_model("surveys", "Survey").objects.filter(
        title__startswith=TITLE,
        demo=False,
        cap__isnull=False,
        opens_at=None,
        closes_at=None,
        waves__mode="electronic",
        waves__number=1,
        waves__launched_at__gte=F("created_at"),
        waves__launched_at__lte=F("created_at") + AT_ONCE,
    ).update(rehearsal=True)


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0006_declared_may_be_declined'),
    ]

    operations = [
        migrations.AddField(
            model_name='survey',
            name='rehearsal',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.RunPython(mark_rehearsals, migrations.RunPython.noop),
    ]
