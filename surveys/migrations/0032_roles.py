"""Owners become members of their surveys, and what was asked is counted over people."""

from collections.abc import Callable
from typing import Any

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.exceptions import IrreversibleError

from surveys.manifest.serialization import parse_manifest
from surveys.models.asked_questions import list_all, list_keys

OWNER = 4


def move_owners(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    surveys, memberships, before, together = _find_models(apps)
    for survey in surveys.objects.order_by("pk").iterator():
        memberships.objects.create(survey=survey, account_id=survey.owner_id, role=OWNER)
    _write_keys(apps, lambda survey: "")
    for owner in list(before.objects.order_by("owner").values_list("owner", flat=True).distinct()):
        # The keys stay: the text of a question is not known any more.
        before.objects.filter(owner=owner).update(people=str(owner))
        together.objects.create(account_id=owner, people=str(owner))
    _check_now(schema_editor)


def move_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give each survey its first owner. Other roles go."""
    surveys, memberships, before, _together = _find_models(apps)
    several = before.objects.filter(people__contains=",").values("people").distinct().count()
    if several:
        raise IrreversibleError(
            f"{several} groups of people have deleted surveys together. What these asked cannot be "
            "counted for one owner."
        )
    for survey in surveys.objects.order_by("pk").iterator():
        owner = memberships.objects.filter(survey=survey, role=OWNER).order_by("pk").first()
        surveys.objects.filter(pk=survey.pk).update(owner=owner.account_id)
    _write_keys(apps, lambda survey: str(survey.owner_id))
    for people in list(before.objects.values_list("people", flat=True).distinct()):
        before.objects.filter(people=people).update(owner=int(people))
    _check_now(schema_editor)


def _find_models(apps: Apps) -> tuple[Any, ...]:
    names = ("Survey", "Membership", "AskedBefore", "AskedTogether")
    return tuple(apps.get_model("surveys", name) for name in names)


def _write_keys(apps: Apps, people_of: Callable[[Any], str]) -> None:
    """Write the keys of opened surveys anew: so far, they depended on the owner."""
    asked: Any = apps.get_model("surveys", "AskedQuestion")
    surveys: Any = apps.get_model("surveys", "Survey")
    waves: Any = apps.get_model("surveys", "Wave")
    for pk in list(asked.objects.values_list("survey", flat=True).distinct()):
        texts = set()
        for wave in waves.objects.filter(survey=pk, mode="electronic"):
            texts |= list_all(parse_manifest(bytes(wave.manifest)))
        people = people_of(surveys.objects.get(pk=pk))
        keys = {list_keys(text, people=people)[0] for text in texts}
        asked.objects.filter(survey=pk).delete()
        asked.objects.bulk_create(asked(survey_id=pk, key=key) for key in sorted(keys))


def _check_now(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Check foreign keys: PostgreSQL alters no table while some checks are put off."""
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0031_history'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
            ],
            options={
                'db_table': 'surveys_team',
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='AskedTogether',
            fields=[
                ('pk', models.CompositePrimaryKey('account_id', 'people', blank=True, editable=False, primary_key=True, serialize=False)),
                ('people', models.TextField()),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'surveys_asked_together',
            },
        ),
        migrations.CreateModel(
            name='FormerMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_members', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_former_member',
                'constraints': [models.UniqueConstraint(fields=('account', 'survey'), name='surveys_former_member_once')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'Viewer'), (2, 'Analyst'), (3, 'Editor'), (4, 'Owner')])),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_membership',
                'constraints': [models.UniqueConstraint(fields=('account', 'survey'), name='surveys_membership_once_a_survey')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.EmailField(max_length=254)),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'Viewer'), (2, 'Analyst'), (3, 'Editor'), (4, 'Owner')])),
                ('expires_at', models.DateTimeField()),
                ('token_hash', models.BinaryField(max_length=32, null=True, unique=True)),
                ('mail_at', models.DateTimeField(db_index=True, null=True)),
                ('invited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('survey', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='surveys.survey')),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='surveys.team')),
            ],
            options={
                'db_table': 'surveys_invitation',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('survey__isnull', True), ('team__isnull', False)), models.Q(('survey__isnull', False), ('team__isnull', True)), _connector='OR'), name='surveys_invitation_to_one_thing'), models.UniqueConstraint(fields=('survey', 'address'), name='surveys_invitation_once_a_survey'), models.UniqueConstraint(fields=('team', 'address'), name='surveys_invitation_once_a_team')],
            },
        ),
        migrations.CreateModel(
            name='TeamMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'Viewer'), (2, 'Analyst'), (3, 'Editor'), (4, 'Owner')])),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='team_memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='surveys.team')),
            ],
            options={
                'db_table': 'surveys_team_member',
                'constraints': [models.UniqueConstraint(fields=('account', 'team'), name='surveys_team_member_once_a_team')],
            },
        ),
        migrations.CreateModel(
            name='TeamSurvey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='surveys.survey')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attachments', to='surveys.team')),
            ],
            options={
                'db_table': 'surveys_team_survey',
                'constraints': [models.UniqueConstraint(fields=('team', 'survey'), name='surveys_team_survey_once')],
            },
        ),
        migrations.AddField(
            model_name='askedbefore',
            name='people',
            field=models.TextField(db_index=True, default=''),
            preserve_default=False,
        ),
        # Nullable on the way, for the other direction.
        migrations.AlterField(
            model_name='askedbefore',
            name='owner',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='survey',
            name='owner',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='surveys', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(move_owners, move_back),
        migrations.RemoveField(
            model_name='askedbefore',
            name='owner',
        ),
        migrations.RemoveField(
            model_name='survey',
            name='owner',
        ),
    ]
