"""Once filled in which questions the surveys ask that were launched before these were recorded.

Migration 0019 makes all of these rows anew, with a key, so there is nothing left to do here.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("surveys", "0010_asked_questions")]

    operations = []
