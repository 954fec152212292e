"""A scale may have a second code: a question that names the scale."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0037_together")]

    operations = [
        migrations.AlterField(
            model_name="question",
            name="type",
            field=models.CharField(
                choices=[
                    ("yes_no", "Yes or no"),
                    ("choice", "One answer"),
                    ("scale", "Rating scale"),
                    ("several", "Several answers"),
                    ("number", "Number in a range"),
                    ("follow_up", "Yes or no, with a follow-up after Yes"),
                    ("score", "Score of a scale"),
                    ("second", "Second code of a scale"),
                    ("declared", "Background group (sent unprotected)"),
                    ("information", "Information text"),
                ],
                default="yes_no",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=~models.Q(type="second")
                | models.Q(output__in=["total", "bands", "cut_off"], same_fact__isnull=False),
                name="surveys_question_second_has_scale",
            ),
        ),
    ]
