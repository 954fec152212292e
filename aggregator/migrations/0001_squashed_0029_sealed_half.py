"""All tables, with nothing that shows in which order reports arrived or outlives them."""

import django.db.models.deletion
import django.utils.timezone
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import surveys.models.surveys

KEYED_BY_CHANCE = ("aggregator_raw_report", "aggregator_spent_id")
WITHOUT_STATISTICS = (
    ("aggregator_raw_report", "id"),
    ("aggregator_raw_report", "symbols"),
    ("aggregator_spent_id", "id"),
    ("aggregator_batch", "packed"),
)


def drop_rowids(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Rebuild the tables keyed by random ids as WITHOUT ROWID.

    An ordinary SQLite table has a hidden rowid that counts up: it would show in which order
    reports arrived. PostgreSQL has no such column.
    """
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        for table in KEYED_BY_CHANCE:
            cursor.execute(
                "SELECT type, sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL",
                [table],
            )
            statements = cursor.fetchall()
            cursor.execute(f'DROP TABLE "{table}"')
            for kind, sql in sorted(statements, reverse=True):  # the table before its indexes
                cursor.execute(f"{sql} WITHOUT ROWID" if kind == "table" else sql)


def keep_no_statistics(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """On PostgreSQL, keep ANALYZE from copying reports and batches into the statistics.

    There they would outlive sealing, or a survey that is deleted with its data: a histogram holds
    up to a hundred sampled values.
    """
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, column in WITHOUT_STATISTICS:
        schema_editor.execute(f'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET STATISTICS 0')


class Migration(migrations.Migration):

    initial = True
    # A database may have all of these or none (aggregator/upkeep/missing_migrations.py). The first
    # two names are those with which older files began.
    replaces = [
        ("aggregator", "0001_initial"),
        ("aggregator", "0001_squashed_0020_what_sweeps_read_is_indexed"),
        ("aggregator", "0021_names_as_json"),
        ("aggregator", "0022_looks_as_a_design"),
        ("aggregator", "0023_planned_releases"),
        ("aggregator", "0024_alerts"),
        ("aggregator", "0025_groups_of_tables"),
        ("aggregator", "0026_key_drivers"),
        ("aggregator", "0027_segments"),
        ("aggregator", "0028_which_folder_counts_draws"),
        ("aggregator", "0029_sealed_half"),
    ]

    dependencies = [
        ('surveys', '0001_squashed_0035_scores'),
    ]

    operations = [
        migrations.CreateModel(
            name='Upkeep',
            fields=[
                ('job', models.CharField(choices=[('sweep', 'Looking for due work'), ('purge', 'Erasing traces of sealed reports'), ('verify-claim', 'Deciding who recomputes everything'), ('verify', 'Recomputing everything from the batches')], max_length=16, primary_key=True, serialize=False)),
                ('ended_at', models.DateTimeField()),
                ('found', models.JSONField(default=dict)),
            ],
            options={
                'verbose_name_plural': 'upkeep',
            },
        ),
        migrations.CreateModel(
            name='Discard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('size', models.PositiveIntegerField()),
                ('counts', models.JSONField(null=True)),
                ('grouped', models.JSONField(default=dict)),
                ('agreeing', models.JSONField(null=True)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='discard', to='surveys.wave')),
            ],
        ),
        migrations.CreateModel(
            name='DueWork',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=16)),
                ('subject', models.PositiveBigIntegerField()),
                ('progress', models.PositiveBigIntegerField(default=0)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name_plural': 'due work',
                'constraints': [models.UniqueConstraint(fields=('kind', 'subject'), name='aggregator_due_work_once')],
            },
        ),
        migrations.CreateModel(
            name='RawReport',
            fields=[
                ('id', models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ('symbols', models.BinaryField()),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_raw_report',
            },
        ),
        migrations.CreateModel(
            name='ReleaseFolder',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('identity', models.CharField(max_length=32)),
            ],
            options={
                'db_table': 'aggregator_release_folder',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='aggregator_release_folder_one')],
            },
        ),
        migrations.CreateModel(
            name='RowsFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('proposed', models.JSONField()),
                ('smallest', models.PositiveIntegerField()),
                ('has_files_of_blocks', models.BooleanField()),
                ('crosses_files', models.BooleanField(default=False)),
                ('chosen', models.JSONField(null=True)),
                ('broken_down', models.JSONField(null=True)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rows_file', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_rows_file',
            },
        ),
        migrations.CreateModel(
            name='SealedHalf',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through_batch', models.PositiveIntegerField(default=0)),
                ('problem', models.TextField(blank=True)),
                ('claims', models.JSONField(default=list)),
                ('opened_on', models.DateField(null=True)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='half', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_sealed_half',
            },
        ),
        migrations.CreateModel(
            name='SpentId',
            fields=[
                ('id', models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_spent_id',
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('size', models.PositiveIntegerField()),
                ('packed', models.BinaryField()),
                ('content_hash', models.BinaryField(max_length=32)),
                ('counts', models.JSONField()),
                ('tables', models.JSONField(null=True)),
                ('is_held', models.BooleanField(default=False)),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='surveys.wave')),
            ],
            options={
                'verbose_name_plural': 'batches',
                'ordering': ['wave', 'number'],
                'indexes': [models.Index(fields=['wave', 'is_held', 'size'], name='aggregator_batch_sizes')],
                'constraints': [models.UniqueConstraint(fields=('wave', 'number'), name='aggregator_batch_number'), models.CheckConstraint(condition=models.Q(('size__gte', 10)), name='aggregator_batch_size_floor'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='aggregator_batch_number_from_one')],
            },
        ),
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Being computed'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('problem', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('leased_until', models.DateTimeField(null=True)),
                ('through_batch', models.PositiveIntegerField()),
                ('method_version', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('table', 'Two questions'), ('regression', 'Outcome and predictors'), ('pairs', 'All pairs'), ('breakdown', 'Break down'), ('segments', 'Segments'), ('claim', 'Claim')], max_length=16)),
                ('names', models.JSONField(blank=True, default=list)),
                ('segments', models.PositiveSmallIntegerField(default=0)),
                ('planned', models.BooleanField(default=False)),
                ('batches_counted', models.PositiveIntegerField(default=0)),
                ('result', models.JSONField(null=True)),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='surveys.wave')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('state__in', ('waiting', 'running'))), fields=['id'], name='aggregator_comparison_due'), models.Index(condition=models.Q(('planned', True)), fields=['wave', 'method_version', 'through_batch'], name='aggregator_comparison_planned')],
                'constraints': [models.UniqueConstraint(fields=('wave', 'through_batch', 'method_version', 'kind', 'names', 'segments'), name='aggregator_comparison_once'), models.CheckConstraint(condition=models.Q(models.Q(('result__isnull', False), ('state', 'done')), models.Q(models.Q(('state', 'done'), _negated=True), ('result__isnull', True)), _connector='OR'), name='aggregator_comparison_done_with_result')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=32, unique=True)),
                ('kind', models.CharField(choices=[('table', 'Table'), ('leader', 'Leader'), ('median', 'Median'), ('alert', 'Alert'), ('key_driver', 'Key driver'), ('typical', 'Typical answer')], max_length=16)),
                ('request', models.JSONField()),
                ('request_hash', models.CharField(max_length=64)),
                ('through_batch', models.PositiveIntegerField()),
                ('planned', models.BooleanField(default=False)),
                ('mechanism', models.CharField(choices=[('laplace', 'Discrete Laplace'), ('gaussian', 'Discrete Gaussian'), ('permute-and-flip', 'Permute-and-flip'), ('sparse-vector', 'Sparse vector')], max_length=16)),
                ('scale', models.CharField(max_length=80)),
                ('epsilon_hundredths', models.PositiveIntegerField()),
                ('delta_nanos', models.PositiveIntegerField(default=0)),
                ('rho', models.FloatField(null=True)),
                ('state', models.CharField(choices=[('watching', 'Waiting'), ('reserved', 'Being drawn'), ('drawn', 'Drawn'), ('lost', 'Lost')], default='reserved', max_length=16)),
                ('problem', models.TextField(blank=True)),
                ('result', models.JSONField(null=True)),
                ('library', models.CharField(blank=True, max_length=40)),
                ('noisy_threshold', models.BigIntegerField(null=True)),
                ('looked_on', models.DateField(null=True)),
                ('reserved_on', models.DateField(default=surveys.models.surveys.today)),
                ('public_from', models.DateField()),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='surveys.wave')),
            ],
            options={
                'ordering': ['wave', 'pk'],
                'indexes': [models.Index(condition=models.Q(('state', 'reserved')), fields=['id'], name='aggregator_release_due'), models.Index(condition=models.Q(('state', 'watching')), fields=['id'], name='aggregator_alert_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'lost'), _negated=True), fields=('wave', 'request_hash', 'through_batch'), name='aggregator_release_once'), models.CheckConstraint(condition=models.Q(models.Q(('result__isnull', False), ('state', 'drawn')), models.Q(models.Q(('state', 'drawn'), _negated=True), ('result__isnull', True)), _connector='OR'), name='aggregator_release_drawn_with_result')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseLedger',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cap_hundredths', models.PositiveIntegerField()),
                ('spent_hundredths', models.PositiveIntegerField(default=0)),
                ('delta_cap_nanos', models.PositiveIntegerField()),
                ('delta_spent_nanos', models.PositiveIntegerField(default=0)),
                ('suspended', models.CharField(blank=True, max_length=16)),
                ('wave', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='release_ledger', to='surveys.wave')),
            ],
            options={
                'db_table': 'aggregator_release_ledger',
                'constraints': [models.CheckConstraint(condition=models.Q(('spent_hundredths__lte', models.F('cap_hundredths'))), name='aggregator_release_ledger_within_cap'), models.CheckConstraint(condition=models.Q(('delta_spent_nanos__lte', models.F('delta_cap_nanos'))), name='aggregator_release_ledger_within_delta'), models.CheckConstraint(condition=models.Q(('suspended', ''), ('spent_hundredths', models.F('cap_hundredths')), _connector='OR'), name='aggregator_release_ledger_suspended_is_spent')],
            },
        ),
        migrations.CreateModel(
            name='Rendering',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Being computed'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('problem', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('leased_until', models.DateTimeField(null=True)),
                ('through_batch', models.PositiveIntegerField()),
                ('final', models.BooleanField()),
                ('name', models.CharField(max_length=80)),
                ('inputs', models.CharField(max_length=64)),
                ('content', models.BinaryField(null=True)),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='renderings', to='surveys.wave')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ('waiting', 'running'))), fields=['id'], name='aggregator_rendering_due')],
                'constraints': [models.UniqueConstraint(fields=('wave', 'through_batch', 'final', 'name', 'inputs'), name='aggregator_rendering_once'), models.CheckConstraint(condition=models.Q(models.Q(('content__isnull', False), ('state', 'done')), models.Q(models.Q(('state', 'done'), _negated=True), ('content__isnull', True)), _connector='OR'), name='aggregator_rendering_done_with_content')],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through_batch', models.PositiveIntegerField()),
                ('looks', models.JSONField(default=list)),
                ('looks_from', models.PositiveIntegerField(default=0)),
                ('earlier_final', models.BooleanField(null=True)),
                ('decided_through', models.PositiveIntegerField(default=0)),
                ('method_version', models.PositiveIntegerField()),
                ('final', models.BooleanField(default=False)),
                ('is_half', models.BooleanField(default=False)),
                ('total', models.PositiveIntegerField()),
                ('totals', models.JSONField(default=list)),
                ('counts', models.JSONField()),
                ('tables', models.JSONField(null=True)),
                ('estimates', models.JSONField()),
                ('told', models.JSONField(default=list)),
                ('day', models.DateField(default=surveys.models.surveys.today)),
                ('wave', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='snapshots', to='surveys.wave')),
            ],
            options={
                'ordering': ['wave', 'through_batch'],
                'indexes': [models.Index(fields=['wave', 'through_batch', 'final', 'method_version', 'decided_through', 'total'], name='aggregator_snapshot_due')],
                'constraints': [models.UniqueConstraint(fields=('wave', 'through_batch'), name='aggregator_snapshot_through_batch')],
            },
        ),
        migrations.RunPython(drop_rowids, migrations.RunPython.noop),
        migrations.RunPython(keep_no_statistics, migrations.RunPython.noop),
    ]
