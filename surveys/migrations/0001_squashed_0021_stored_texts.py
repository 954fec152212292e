"""All tables, and a trigger that lets the database itself keep what a wave was launched as."""

import django.db.models.deletion
import django.utils.timezone
import surveys.models
from django.conf import settings
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


FROZEN = (
    "survey_id", "number", "manifest", "manifest_hash", "minimum_batch", "display_minimum",
    "opens_at", "closes_at", "cap", "mode", "words", "planned_comparisons",
)
MESSAGE = "a launched wave cannot change"


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse changes. Whatever rebuilds the table on SQLite later drops this trigger."""
    if schema_editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in FROZEN)
        schema_editor.execute(
            f"CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
        return
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in FROZEN)
    schema_editor.execute(
        "CREATE FUNCTION surveys_refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'restrict_violation'; END $$"
    )
    schema_editor.execute(
        "CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave FOR EACH ROW "
        f"WHEN ({changed}) EXECUTE FUNCTION surveys_refuse_change()"
    )


def thaw(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER surveys_wave_frozen")
        return
    schema_editor.execute("DROP TRIGGER surveys_wave_frozen ON surveys_wave")
    schema_editor.execute("DROP FUNCTION surveys_refuse_change")


class Migration(migrations.Migration):

    initial = True
    # A database may have all of these or none (aggregator/upkeep/upgrades.py).
    replaces = [
        ("surveys", "0001_initial"),
        ("surveys", "0002_frozen_waves"),
        ("surveys", "0003_question_types"),
        ("surveys", "0004_respondents"),
        ("surveys", "0005_words_of_waves"),
        ("surveys", "0006_declared_may_be_declined"),
        ("surveys", "0007_rehearsals"),
        ("surveys", "0008_deleted_waves"),
        ("surveys", "0009_people_expected"),
        ("surveys", "0010_asked_questions"),
        ("surveys", "0011_questions_of_launched_surveys"),
        ("surveys", "0012_who_asks_and_who_helps"),
        ("surveys", "0013_people_invited"),
        ("surveys", "0014_planned_comparisons"),
        ("surveys", "0015_publication"),
        ("surveys", "0016_names_of_question_types"),
        ("surveys", "0017_protected_publication"),
        ("surveys", "0018_asked_before"),
        ("surveys", "0019_lookalike_letters"),
        ("surveys", "0020_due_work_is_indexed"),
        ("surveys", "0021_stored_texts"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DeletedWave',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('manifest_hash', models.BinaryField(max_length=32, unique=True)),
                ('slug', models.CharField(db_index=True, max_length=12)),
                ('deleted_on', models.DateField(default=surveys.models.today)),
            ],
            options={
                'db_table': 'surveys_deleted_wave',
            },
        ),
        migrations.CreateModel(
            name='AskedBefore',
            fields=[
                ('key', models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ('surveys', models.PositiveIntegerField()),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'surveys_asked_before',
            },
        ),
        migrations.CreateModel(
            name='Survey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=200)),
                ('introduction', models.TextField(blank=True, max_length=2000)),
                ('organization', models.CharField(blank=True, max_length=120)),
                ('contact', models.CharField(blank=True, max_length=200)),
                ('help_name', models.CharField(blank=True, max_length=120)),
                ('help_phone', models.CharField(blank=True, max_length=40)),
                ('help_url', models.CharField(blank=True, max_length=300)),
                ('consent', models.TextField(blank=True, max_length=10000)),
                ('minimum_age', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('shared_devices', models.BooleanField(default=False)),
                ('may_decline', models.BooleanField(default=False)),
                ('minimum_batch', models.PositiveIntegerField(default=50)),
                ('display_minimum', models.PositiveIntegerField(default=100)),
                ('opens_at', models.DateTimeField(blank=True, null=True)),
                ('closes_at', models.DateTimeField(blank=True, null=True)),
                ('cap', models.PositiveIntegerField(blank=True, null=True)),
                ('people_expected', models.PositiveIntegerField(blank=True, null=True)),
                ('language', models.CharField(choices=[('en', 'English'), ('es', 'Español'), ('fr', 'Français'), ('de', 'Deutsch'), ('ar', 'العربية'), ('zh-hans', '简体中文')], default='en', max_length=10)),
                ('closing_message', models.TextField(blank=True, max_length=1000)),
                ('quick_exit', models.BooleanField(default=True)),
                ('coins', models.BooleanField(default=False)),
                ('publication', models.CharField(choices=[('none', 'Nothing'), ('exact', 'The results, after the survey has closed'), ('protected', 'Protected figures, after the survey has closed')], default='none', max_length=16)),
                ('release_epsilon_hundredths', models.PositiveSmallIntegerField(default=100)),
                ('release_delta_nanos', models.PositiveSmallIntegerField(default=1000)),
                ('drawn', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('slug', models.CharField(default=surveys.models.new_slug, editable=False, max_length=12, unique=True)),
                ('demo', models.BooleanField(default=False, editable=False)),
                ('rehearsal', models.BooleanField(default=False, editable=False)),
                ('people_invited', models.PositiveIntegerField(blank=True, null=True)),
                ('public_results_off', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='surveys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('type', models.CharField(choices=[('yes_no', 'Yes or no'), ('choice', 'One of several'), ('scale', 'Rating scale'), ('several', 'Select several'), ('number', 'Number in a range'), ('follow_up', 'Yes or no, with a follow-up after Yes'), ('declared', 'Background group (sent unprotected)'), ('information', 'Information text')], default='yes_no', max_length=16)),
                ('text', models.CharField(max_length=1000)),
                ('flips', models.PositiveSmallIntegerField(default=25)),
                ('options', models.JSONField(blank=True, default=list)),
                ('minimum', models.IntegerField(blank=True, null=True)),
                ('maximum', models.IntegerField(blank=True, null=True)),
                ('unit', models.CharField(blank=True, max_length=40)),
                ('low_label', models.CharField(blank=True, max_length=100)),
                ('high_label', models.CharField(blank=True, max_length=100)),
                ('limit', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('follow_up', models.CharField(blank=True, max_length=1000)),
                ('refusal', models.BooleanField(default=False)),
                ('rule', models.JSONField(blank=True, null=True)),
                ('same_fact', models.PositiveBigIntegerField(blank=True, null=True)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='surveys.survey')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='PlannedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome_part', models.CharField(blank=True, max_length=12)),
                ('group_part', models.CharField(blank=True, max_length=12)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surveys.question')),
                ('outcome', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surveys.question')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='planned_comparisons', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_planned_comparison',
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='AskedQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.BinaryField(max_length=32)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked_questions', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_asked_question',
            },
        ),
        migrations.CreateModel(
            name='Translation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(choices=[('en', 'English'), ('es', 'Español'), ('fr', 'Français'), ('de', 'Deutsch'), ('ar', 'العربية'), ('zh-hans', '简体中文')], max_length=10)),
                ('texts', models.JSONField(blank=True, default=dict)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='translations', to='surveys.survey')),
            ],
            options={
                'ordering': ['language'],
            },
        ),
        migrations.CreateModel(
            name='Wave',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('mode', models.CharField(choices=[('electronic', 'Electronic'), ('manual', 'Two coins')], default='electronic', max_length=16)),
                ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=16)),
                ('ending', models.CharField(blank=True, choices=[('date', 'on its closing date'), ('cap', 'at its number of people'), ('owner', 'by its owner')], default='', max_length=16)),
                ('manifest', models.BinaryField()),
                ('manifest_hash', models.BinaryField(max_length=32, unique=True)),
                ('words', models.JSONField(default=dict)),
                ('minimum_batch', models.PositiveIntegerField()),
                ('display_minimum', models.PositiveIntegerField()),
                ('opens_at', models.DateTimeField(null=True)),
                ('closes_at', models.DateTimeField(null=True)),
                ('cap', models.PositiveIntegerField(null=True)),
                ('planned_comparisons', models.PositiveSmallIntegerField(default=0)),
                ('launched_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('closed_at', models.DateTimeField(null=True)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='waves', to='surveys.survey')),
            ],
            options={
                'ordering': ['survey', 'number', 'mode'],
            },
        ),
        migrations.CreateModel(
            name='StoredText',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('key', models.BinaryField(max_length=32)),
                ('compressed', models.BinaryField()),
                ('wave', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='stored_texts', to='surveys.wave')),
            ],
            options={
                'db_table': 'surveys_stored_text',
            },
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('minimum_batch__gte', 10)), name='surveys_survey_minimum_batch_floor'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('display_minimum__gte', models.F('minimum_batch'))), name='surveys_survey_display_minimum_at_least_batch'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('cap__isnull', True), ('cap__gte', models.F('minimum_batch')), _connector='OR'), name='surveys_survey_cap_reaches_a_batch'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('people_expected__isnull', True), ('people_expected__gte', models.F('minimum_batch')), _connector='OR'), name='surveys_survey_people_expected_make_a_batch'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('minimum_age__isnull', True), ('minimum_age__range', (10, 120)), _connector='OR'), name='surveys_survey_minimum_age_in_range'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('coins', False), ('may_decline', False), _connector='OR'), name='surveys_survey_coins_without_declining'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('help_name', ''), _negated=True), models.Q(('help_phone', ''), ('help_url', '')), _connector='OR'), name='surveys_survey_help_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('release_epsilon_hundredths__range', (10, 300))), name='surveys_survey_release_epsilon_in_range'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('release_delta_nanos__lte', 1000)), name='surveys_survey_release_delta_in_range'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('people_invited__isnull', True), ('people_invited__gte', 1), _connector='OR'), name='surveys_survey_people_invited_positive'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.UniqueConstraint(fields=('survey', 'position'), name='surveys_question_position'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(('flips__gte', 1), ('flips__lte', 49)), name='surveys_question_flips_in_range'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='surveys_question_text_present'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('type__in', ['number', 'scale']), _negated=True), models.Q(('maximum__isnull', False), ('minimum__isnull', False), ('minimum__lt', models.F('maximum'))), _connector='OR'), name='surveys_question_range_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('type', 'information'), _negated=True), ('refusal', False), _connector='OR'), name='surveys_question_text_without_refusal'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('type', 'declared'), _negated=True), ('rule__isnull', True), _connector='OR'), name='surveys_question_declared_without_rule'),
        ),
        migrations.AddConstraint(
            model_name='askedquestion',
            constraint=models.UniqueConstraint(fields=('key', 'survey'), name='surveys_asked_question_once'),
        ),
        migrations.AddConstraint(
            model_name='translation',
            constraint=models.UniqueConstraint(fields=('survey', 'language'), name='surveys_translation_language'),
        ),
        migrations.AddIndex(
            model_name='wave',
            index=models.Index(fields=['state', 'mode', 'minimum_batch', 'display_minimum', 'planned_comparisons', 'closes_at', 'cap'], name='surveys_wave_due'),
        ),
        migrations.AddConstraint(
            model_name='wave',
            constraint=models.UniqueConstraint(fields=('survey', 'number', 'mode'), name='surveys_wave_number_and_mode'),
        ),
        migrations.AddConstraint(
            model_name='wave',
            constraint=models.CheckConstraint(condition=models.Q(('minimum_batch__gte', 10)), name='surveys_wave_minimum_batch_floor'),
        ),
        migrations.AddConstraint(
            model_name='wave',
            constraint=models.CheckConstraint(condition=models.Q(('display_minimum__gte', models.F('minimum_batch'))), name='surveys_wave_display_minimum_at_least_batch'),
        ),
        migrations.AddConstraint(
            model_name='wave',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('ending', ''), ('state', 'open')), models.Q(('closed_at__isnull', False), ('ending__in', ['date', 'cap', 'owner']), ('state', 'closed')), _connector='OR'), name='surveys_wave_state_and_ending_agree'),
        ),
        migrations.RunPython(freeze, thaw),
    ]
