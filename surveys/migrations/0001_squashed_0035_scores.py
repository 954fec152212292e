"""All tables, and triggers that keep what a wave was launched as, and the history."""

import django.core.serializers.json
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import surveys.models.surveys
from django.conf import settings
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


FROZEN = (
    "survey_id", "number", "manifest", "manifest_hash", "minimum_batch", "display_minimum",
    "opens_at", "closes_at", "cap", "mode", "words", "planned_comparisons", "delete_on",
    "planned_releases", "planned_alerts", "sealed_half",
)
WAVE_IS_FROZEN = "a launched wave cannot change"


def freeze(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse changes. Whatever rebuilds the table on SQLite later drops this trigger."""
    if schema_editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in FROZEN)
        schema_editor.execute(
            f"CREATE TRIGGER surveys_wave_frozen BEFORE UPDATE ON surveys_wave WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{WAVE_IS_FROZEN}'); END"
        )
        return
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in FROZEN)
    schema_editor.execute(
        "CREATE FUNCTION surveys_refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{WAVE_IS_FROZEN}' USING ERRCODE = 'restrict_violation'; END $$"
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


HISTORY = ("surveys_history", "surveys_history_changes")
HISTORY_IS_FIXED = "the history of a survey cannot change"
# Whether the row that a row of changes belongs to is still kept, and its survey is not deleted. It does
# not look for the survey: on SQLite, a trigger that names a table keeps it from being rebuilt.
IS_NEEDED = (
    "EXISTS (SELECT 1 FROM surveys_history WHERE slug = OLD.slug AND number = OLD.number) AND NOT "
    "EXISTS (SELECT 1 FROM surveys_history WHERE slug = OLD.slug AND verb IN ('deleted', 'expired'))"
)
REFUSE = f"BEGIN SELECT RAISE(ABORT, '{HISTORY_IS_FIXED}'); END"
SQLITE = (
    f"surveys_history_fixed BEFORE UPDATE ON surveys_history {REFUSE}",
    "surveys_history_kept BEFORE DELETE ON surveys_history "
    f"WHEN OLD.kept_until >= date('now') {REFUSE}",
    # INSERT OR REPLACE would delete a row without calling the trigger above.
    "surveys_history_last BEFORE INSERT ON surveys_history WHEN NEW.number <= "
    f"(SELECT max(number) FROM surveys_history WHERE slug = NEW.slug) {REFUSE}",
    f"surveys_history_changes_fixed BEFORE UPDATE ON surveys_history_changes {REFUSE}",
    "surveys_history_changes_kept BEFORE DELETE ON surveys_history_changes "
    f"WHEN {IS_NEEDED} {REFUSE}",
    "surveys_history_changes_new BEFORE INSERT ON surveys_history_changes WHEN EXISTS (SELECT 1 "
    "FROM surveys_history_changes WHERE slug = NEW.slug AND number = NEW.number) "
    f"{REFUSE}",
)
RAISE = f"RAISE EXCEPTION '{HISTORY_IS_FIXED}' USING ERRCODE = 'restrict_violation';"
POSTGRESQL = (
    "FUNCTION surveys_history_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN {RAISE} END $$",
    # A WHEN clause cannot read other tables.
    "FUNCTION surveys_history_refuse_if_needed() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN IF {IS_NEEDED} THEN {RAISE} END IF; RETURN OLD; END $$",
    # A row may be written again as it is (surveys.history.upkeep).
    *(
        f"TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH {scope} "
        "EXECUTE FUNCTION surveys_history_refuse()"
        for table in HISTORY
        for name, event, scope in (
            ("fixed", "UPDATE", "ROW WHEN (OLD IS DISTINCT FROM NEW)"),
            ("whole", "TRUNCATE", "STATEMENT"),
        )
    ),
    "TRIGGER surveys_history_kept BEFORE DELETE ON surveys_history FOR EACH ROW "
    "WHEN (OLD.kept_until >= (now() AT TIME ZONE 'utc')::date) "
    "EXECUTE FUNCTION surveys_history_refuse()",
    "TRIGGER surveys_history_changes_kept BEFORE DELETE ON surveys_history_changes FOR EACH ROW "
    "EXECUTE FUNCTION surveys_history_refuse_if_needed()",
)


def guard(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse changes. Whatever rebuilds a table on SQLite later drops its triggers."""
    if schema_editor.connection.vendor == "sqlite":
        _drop_rowids(schema_editor)
        for trigger in SQLITE:
            schema_editor.execute(f"CREATE TRIGGER {trigger}")
        return
    for thing in POSTGRESQL:
        schema_editor.execute(f"CREATE {thing}")


def _drop_rowids(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Rebuild the empty tables as WITHOUT ROWID.

    A hidden rowid would show in which order people acted on different surveys, and INSERT OR
    REPLACE could name one to remove a row.
    """
    with schema_editor.connection.cursor() as cursor:
        for table in HISTORY:
            cursor.execute(
                "SELECT type, sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL",
                [table],
            )
            statements = cursor.fetchall()
            cursor.execute(f'DROP TABLE "{table}"')
            for kind, sql in sorted(statements, reverse=True):  # the table before its indexes
                cursor.execute(f"{sql} WITHOUT ROWID" if kind == "table" else sql)


def drop_functions(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop what stays when the tables go: they take their triggers with them."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION surveys_history_refuse CASCADE")
        schema_editor.execute("DROP FUNCTION surveys_history_refuse_if_needed CASCADE")


class Migration(migrations.Migration):

    initial = True
    # A database may have all of these or none (aggregator/upkeep/missing_migrations.py). The first two names are
    # those with which older files began.
    replaces = [
        ("surveys", "0001_initial"),
        ("surveys", "0001_squashed_0021_stored_texts"),
        ("surveys", "0022_who_and_until_when"),
        ("surveys", "0023_planned_regressions"),
        ("surveys", "0024_planned_releases"),
        ("surveys", "0025_planned_alerts"),
        ("surveys", "0026_groups_of_tables"),
        ("surveys", "0027_key_drivers"),
        ("surveys", "0028_names"),
        ("surveys", "0029_imports"),
        ("surveys", "0030_sealed_half"),
        ("surveys", "0031_history"),
        ("surveys", "0032_roles"),
        ("surveys", "0034_draft_keys"),
        ("surveys", "0035_scores"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AskedBefore',
            fields=[
                ('key', models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ('people', models.TextField(db_index=True)),
                ('surveys', models.PositiveIntegerField()),
            ],
            options={
                'db_table': 'surveys_asked_before',
            },
        ),
        migrations.CreateModel(
            name='DeletedWave',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('manifest_hash', models.BinaryField(max_length=32, unique=True)),
                ('slug', models.CharField(db_index=True, max_length=12)),
                ('deleted_on', models.DateField(default=surveys.models.surveys.today)),
            ],
            options={
                'db_table': 'surveys_deleted_wave',
            },
        ),
        migrations.CreateModel(
            name='HistoryChanges',
            fields=[
                ('pk', models.CompositePrimaryKey('slug', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=12)),
                ('number', models.PositiveIntegerField()),
                ('changes', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
            ],
            options={
                'db_table': 'surveys_history_changes',
            },
        ),
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
            name='HistoryRow',
            fields=[
                ('pk', models.CompositePrimaryKey('slug', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=12)),
                ('number', models.PositiveIntegerField()),
                ('day', models.DateField()),
                ('kept_until', models.DateField(db_index=True)),
                ('account', models.BigIntegerField(null=True)),
                ('verb', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=24)),
            ],
            options={
                'db_table': 'surveys_history',
                'indexes': [models.Index(fields=['slug', 'verb', 'account', 'day'], name='surveys_history_once')],
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
                ('notice_url', models.CharField(blank=True, max_length=200)),
                ('approval', models.CharField(blank=True, max_length=80)),
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
                ('delete_on', models.DateField(blank=True, null=True)),
                ('cap', models.PositiveIntegerField(blank=True, null=True)),
                ('people_expected', models.PositiveIntegerField(blank=True, null=True)),
                ('language', models.CharField(choices=[('en', 'English'), ('es', 'Español'), ('fr', 'Français'), ('de', 'Deutsch'), ('ar', 'العربية'), ('zh-hans', '简体中文')], default='en', max_length=10)),
                ('closing_message', models.TextField(blank=True, max_length=1000)),
                ('quick_exit', models.BooleanField(default=True)),
                ('coins', models.BooleanField(default=False)),
                ('publication', models.CharField(choices=[('none', 'Nothing'), ('exact', 'The results, after the survey has closed'), ('protected', 'Protected figures, after the survey has closed')], default='none', max_length=16)),
                ('release_epsilon_hundredths', models.PositiveSmallIntegerField(default=100)),
                ('release_delta_nanos', models.PositiveSmallIntegerField(default=1000)),
                ('sealed_half', models.BooleanField(default=False)),
                ('drawn', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('slug', models.CharField(default=surveys.models.surveys.new_slug, editable=False, max_length=12, unique=True)),
                ('demo', models.BooleanField(default=False, editable=False)),
                ('rehearsal', models.BooleanField(default=False, editable=False)),
                ('people_invited', models.PositiveIntegerField(blank=True, null=True)),
                ('public_results_off', models.BooleanField(default=False)),
                ('deletion_mail_at', models.DateTimeField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'abstract': False,
                'indexes': [models.Index(condition=models.Q(('deletion_mail_at__isnull', False)), fields=['deletion_mail_at'], name='surveys_survey_mail_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('minimum_batch__gte', 10)), name='surveys_survey_minimum_batch_floor'), models.CheckConstraint(condition=models.Q(('display_minimum__gte', models.F('minimum_batch'))), name='surveys_survey_display_minimum_at_least_batch'), models.CheckConstraint(condition=models.Q(('cap__isnull', True), ('cap__gte', models.F('minimum_batch')), _connector='OR'), name='surveys_survey_cap_reaches_a_batch'), models.CheckConstraint(condition=models.Q(('people_expected__isnull', True), ('people_expected__gte', models.F('minimum_batch')), _connector='OR'), name='surveys_survey_people_expected_make_a_batch'), models.CheckConstraint(condition=models.Q(('minimum_age__isnull', True), ('minimum_age__range', (10, 120)), _connector='OR'), name='surveys_survey_minimum_age_in_range'), models.CheckConstraint(condition=models.Q(('coins', False), ('may_decline', False), _connector='OR'), name='surveys_survey_coins_without_declining'), models.CheckConstraint(condition=models.Q(models.Q(('help_name', ''), _negated=True), models.Q(('help_phone', ''), ('help_url', '')), _connector='OR'), name='surveys_survey_help_has_a_name'), models.CheckConstraint(condition=models.Q(('release_epsilon_hundredths__range', (10, 300))), name='surveys_survey_release_epsilon_in_range'), models.CheckConstraint(condition=models.Q(('release_delta_nanos__lte', 1000)), name='surveys_survey_release_delta_in_range'), models.CheckConstraint(condition=models.Q(('people_invited__isnull', True), ('people_invited__gte', 1), _connector='OR'), name='surveys_survey_people_invited_positive')],
            },
        ),
        migrations.CreateModel(
            name='PlannedRelease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('table', 'Table'), ('leader', 'Leader'), ('median', 'Median'), ('alert', 'Alert'), ('key_driver', 'Key driver'), ('typical', 'Typical answer')], max_length=16)),
                ('questions', models.JSONField()),
                ('epsilon_hundredths', models.PositiveIntegerField()),
                ('answer', models.PositiveSmallIntegerField(null=True)),
                ('percent', models.PositiveSmallIntegerField(null=True)),
                ('group', models.PositiveBigIntegerField(null=True)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='planned_releases', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_planned_release',
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='PlannedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answers', models.JSONField()),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='planned_comparisons', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_planned_comparison',
                'ordering': ['pk'],
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
                ('delete_on', models.DateField(null=True)),
                ('cap', models.PositiveIntegerField(null=True)),
                ('planned_comparisons', models.PositiveSmallIntegerField(default=0)),
                ('planned_releases', models.PositiveSmallIntegerField(null=True)),
                ('planned_alerts', models.PositiveSmallIntegerField(default=0)),
                ('sealed_half', models.BooleanField(default=False)),
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
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('type', models.CharField(choices=[('yes_no', 'Yes or no'), ('choice', 'One answer'), ('scale', 'Rating scale'), ('several', 'Several answers'), ('number', 'Number in a range'), ('follow_up', 'Yes or no, with a follow-up after Yes'), ('score', 'Score of a scale'), ('declared', 'Background group (sent unprotected)'), ('information', 'Information text')], default='yes_no', max_length=16)),
                ('name', models.CharField(blank=True, max_length=20)),
                ('source_name', models.CharField(blank=True, max_length=200)),
                ('short_label', models.CharField(blank=True, max_length=80)),
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
                ('scored_items', models.JSONField(blank=True, default=list)),
                ('scored_options', models.JSONField(blank=True, default=list)),
                ('output', models.CharField(blank=True, choices=[('total', 'The total: you learn its mean'), ('bands', 'Bands: you learn how many people are in each'), ('cut_off', 'A cut-off: you learn how many people reach it')], max_length=16)),
                ('cut_off', models.IntegerField(blank=True, null=True)),
                ('refusal', models.BooleanField(default=False)),
                ('rule', models.JSONField(blank=True, null=True)),
                ('same_fact', models.PositiveBigIntegerField(blank=True, null=True)),
                ('draft_key', models.CharField(blank=True, editable=False, max_length=36)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='surveys.survey')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('survey', 'position'), name='surveys_question_position'), models.UniqueConstraint(models.F('survey'), django.db.models.functions.text.Lower('name'), condition=models.Q(('name', ''), _negated=True), name='surveys_question_name'), models.UniqueConstraint(condition=models.Q(('draft_key', ''), _negated=True), fields=('survey', 'draft_key'), name='surveys_question_draft_key'), models.CheckConstraint(condition=models.Q(('flips__gte', 1), ('flips__lte', 49)), name='surveys_question_flips_in_range'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='surveys_question_text_present'), models.CheckConstraint(condition=models.Q(models.Q(('type__in', ['number', 'scale']), _negated=True), models.Q(('maximum__isnull', False), ('minimum__isnull', False), ('minimum__lt', models.F('maximum'))), _connector='OR'), name='surveys_question_range_not_empty'), models.CheckConstraint(condition=models.Q(models.Q(('type', 'information'), _negated=True), ('refusal', False), _connector='OR'), name='surveys_question_text_without_refusal'), models.CheckConstraint(condition=models.Q(models.Q(('type', 'score'), _negated=True), ('output__in', ['total', 'bands', 'cut_off']), _connector='OR'), name='surveys_question_score_has_output'), models.CheckConstraint(condition=models.Q(models.Q(('output', 'cut_off'), _negated=True), ('cut_off__isnull', False), _connector='OR'), name='surveys_question_cut_off_present'), models.CheckConstraint(condition=models.Q(models.Q(('type', 'declared'), _negated=True), ('rule__isnull', True), _connector='OR'), name='surveys_question_declared_without_rule')],
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
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Being computed'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('problem', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('leased_until', models.DateTimeField(null=True)),
                ('slug', models.SlugField(default=surveys.models.surveys.new_slug, max_length=20, unique=True)),
                ('uploaded_at', models.DateTimeField(auto_now_add=True)),
                ('name', models.CharField(max_length=200)),
                ('content', models.BinaryField(null=True)),
                ('definition', models.JSONField(null=True)),
                ('outcomes', models.JSONField(default=list)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to=settings.AUTH_USER_MODEL)),
                ('survey', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='imported', to='surveys.survey')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ('waiting', 'running'))), fields=['id'], name='surveys_import_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ('waiting', 'running')), ('content__isnull', True), _connector='OR'), name='surveys_import_content_only_until_read'), models.CheckConstraint(condition=models.Q(models.Q(('definition__isnull', False), ('state', 'done'), ('survey__isnull', True)), ('definition__isnull', True), _connector='OR'), name='surveys_import_definition_until_created')],
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
            name='AskedQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.BinaryField(max_length=32)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked_questions', to='surveys.survey')),
            ],
            options={
                'db_table': 'surveys_asked_question',
                'constraints': [models.UniqueConstraint(fields=('key', 'survey'), name='surveys_asked_question_once')],
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
                'constraints': [models.UniqueConstraint(fields=('survey', 'language'), name='surveys_translation_language')],
            },
        ),
        migrations.AddIndex(
            model_name='wave',
            index=models.Index(fields=['state', 'mode', 'minimum_batch', 'display_minimum', 'planned_comparisons', 'planned_releases', 'planned_alerts', 'closes_at', 'cap'], name='surveys_wave_due'),
        ),
        migrations.AddIndex(
            model_name='wave',
            index=models.Index(condition=models.Q(('delete_on__isnull', False)), fields=['delete_on'], name='surveys_wave_delete_due'),
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
        migrations.RunPython(guard, drop_functions),
    ]
