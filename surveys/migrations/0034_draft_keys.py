"""A question that the editor's page adds twice, because an answer was lost, is added once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0032_roles")]

    operations = [
        migrations.AddField(
            model_name="question",
            name="draft_key",
            field=models.CharField(blank=True, editable=False, max_length=36),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(
                condition=models.Q(("draft_key", ""), _negated=True),
                fields=("survey", "draft_key"),
                name="surveys_question_draft_key",
            ),
        ),
    ]
