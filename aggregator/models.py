"""The tables of reports, batches and computed results. Raw reports are kept until sealing.

Raw reports and spent ids have no serial number, time or address. Their only key is the random id
that the respondent's browser drew, so they do not show who answered when.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from surveys.leases import UNFINISHED, Job
from surveys.manifest.releases import ReleaseKind
from surveys.models import Wave, today
from surveys.releasing.noise import Mechanism

ID_BYTES = 32


def _index_due(table: str, *states: str) -> models.Index:
    """Index only the rows that sweeps look for."""
    is_due = models.Q(state__in=states) if len(states) > 1 else models.Q(state=states[0])
    return models.Index(fields=["id"], condition=is_due, name=f"aggregator_{table}_due")


class RawReport(models.Model):
    """One respondent's randomized codes, one byte each, waiting to be sealed."""

    id = models.BinaryField(primary_key=True, max_length=ID_BYTES)
    wave = models.ForeignKey(Wave, on_delete=models.PROTECT, related_name="+")
    symbols = models.BinaryField()

    class Meta:
        db_table = "aggregator_raw_report"

    def __str__(self) -> str:
        return "a raw report"  # never its content, which must not reach a log


class SpentId(models.Model):
    """The id of an acknowledged report; a second upload with this id changes nothing."""

    id = models.BinaryField(primary_key=True, max_length=ID_BYTES)
    wave = models.ForeignKey(Wave, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "aggregator_spent_id"

    def __str__(self) -> str:
        return "a spent id"


class ShownBatches(models.Manager["Batch"]):
    """All batches except those that a wave keeps sealed until its claims are tested."""

    def get_queryset(self) -> models.QuerySet[Batch]:
        return super().get_queryset().filter(is_held=False)


class Batch(models.Model):
    """Reports of one wave, sealed together, sorted and packed. They are never separated again.

    `objects` leaves out the sealed half, and so does `wave.batches`. Only sealing, testing,
    verifying, erasing and deleting may read `every`, because they do not show the half's figures.
    """

    wave = models.ForeignKey(Wave, on_delete=models.PROTECT, related_name="batches")
    number = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    packed = models.BinaryField()
    content_hash = models.BinaryField(max_length=32)
    # Per column (aggregator.batches.columns), how many reports show each code: [[no, yes], ...]
    counts: models.JSONField[list[list[int]]] = models.JSONField()
    # Counts of the codes that rules tie together (aggregator.batches.joint_tables), table by table.
    # None in batches that were sealed before tables existed, until their tables are counted.
    tables: models.JSONField[list[list[int]] | None] = models.JSONField(null=True)
    # Whether the batch is in the sealed half of a closed wave (aggregator.batches.halves).
    is_held = models.BooleanField(default=False)

    objects = ShownBatches()
    every: models.Manager[Batch] = models.Manager()

    class Meta:
        ordering = ["wave", "number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["wave", "number"], name="aggregator_batch_number"),
            models.CheckConstraint(
                condition=models.Q(size__gte=10), name="aggregator_batch_size_floor"
            ),
            models.CheckConstraint(
                condition=models.Q(number__gte=1), name="aggregator_batch_number_from_one"
            ),
        ]
        # Sweeps add up the sizes to see whether a wave reached its number of people.
        indexes = [models.Index(fields=["wave", "is_held", "size"], name="aggregator_batch_sizes")]

    def __str__(self) -> str:
        return f"batch {self.number}"


class Snapshot(models.Model):
    """Counts and estimates at a look (aggregator.results.looks), the only results that people see.

    A snapshot is a pure function of batches 1 to through_batch. A final snapshot also depends on
    how the wave ended.
    """

    wave = models.ForeignKey(Wave, on_delete=models.PROTECT, related_name="snapshots")
    through_batch = models.PositiveIntegerField()  # the batch of the newest look
    # The batch of the last look at questions that everybody is asked, then the batch of the last
    # look at each block. The list is empty if all of them are through_batch, as in snapshots from
    # before looks existed.
    looks: models.JSONField[list[int]] = models.JSONField(default=list)
    # The last batch before looks existed, when each batch was shown at once; 0 for later waves.
    looks_from = models.PositiveIntegerField(default=0)
    # If a version with lower minimums showed this snapshot, it stays shown, and this field says
    # whether the wave was then completely counted. None for all other snapshots.
    earlier_final = models.BooleanField(null=True)
    # Up to this batch, no newer look is due.
    decided_through = models.PositiveIntegerField(default=0)
    method_version = models.PositiveIntegerField()
    # True once the wave is closed and none of its reports wait to be sealed.
    final = models.BooleanField(default=False)
    # True if this snapshot counts all batches of the open half of a closed wave.
    is_half = models.BooleanField(default=False)
    total = models.PositiveIntegerField()
    # The number of reports at each look so far, for questions that everybody is asked.
    totals: models.JSONField[list[int]] = models.JSONField(default=list)
    counts: models.JSONField[list[list[int]]] = models.JSONField()
    # None in snapshots made before tables existed.
    tables: models.JSONField[list[list[int]] | None] = models.JSONField(null=True)
    estimates: models.JSONField[list[dict[str, Any]]] = models.JSONField()
    # The declared questions whose group sizes are shown after the close (results.groups.told).
    told: models.JSONField[list[str]] = models.JSONField(default=list)
    # A day, not a time, so that no one can tell in which minute a batch was sealed.
    day = models.DateField(default=today)

    class Meta:
        ordering = ["wave", "through_batch"]
        constraints = [
            models.UniqueConstraint(
                fields=["wave", "through_batch"], name="aggregator_snapshot_through_batch"
            ),
        ]
        # This index contains all columns that sweeps query, so that they never read long estimates.
        indexes = [
            models.Index(
                fields=[
                    *("wave", "through_batch", "final"),
                    *("method_version", "decided_through", "total"),
                ],
                name="aggregator_snapshot_due",
            )
        ]

    def __str__(self) -> str:
        return f"snapshot through batch {self.through_batch}"

    def find_look(self, part: int) -> int:
        """Return the batch of the last look at a part of the survey."""
        return self.looks[part] if self.looks else self.through_batch

    def list_looks(self, parts: int) -> list[int]:
        """List the batches of the last looks at all parts."""
        return list(self.looks) or [self.through_batch] * parts


class Rendering(Job):
    """A file that a worker makes from one look on request; it is kept until there is a newer look.

    The file is a pure function of the snapshot and the other inputs.
    """

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="renderings")
    through_batch = models.PositiveIntegerField()
    final = models.BooleanField()
    name = models.CharField(max_length=80)  # of the file, such as chart-q3.85mm.svg
    # SHA-256, in hexadecimal digits, of the other inputs.
    inputs = models.CharField(max_length=64)
    content = models.BinaryField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wave", "through_batch", "final", "name", "inputs"],
                name="aggregator_rendering_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state="done", content__isnull=False)
                | (~models.Q(state="done") & models.Q(content__isnull=True)),
                name="aggregator_rendering_done_with_content",
            ),
        ]
        indexes = [_index_due("rendering", *UNFINISHED)]

    def __str__(self) -> str:
        return self.name


class Discard(models.Model):
    """The number of reports deleted because a wave closed below its minimum batch.

    If the manifest plans releases, the row also counts these reports by code, and exists even if no
    report came. The releases are drawn from these counts, so a release reveals to nobody whether a
    full batch came. Nothing else reads the counts.

    `grouped` maps the digest of each planned table by groups to the counts in each group
    (aggregator.batches.grouped_cells). For each pair of the planned key drivers, `agreeing` says
    how many reports have the same code in both questions (aggregator.batches.agreements). It is
    None if there is no such pair.
    """

    wave = models.OneToOneField(Wave, on_delete=models.PROTECT, related_name="discard")
    size = models.PositiveIntegerField()
    counts: models.JSONField[list[list[int]] | None] = models.JSONField(null=True)
    grouped: models.JSONField[dict[str, dict[str, list[int]]]] = models.JSONField(default=dict)
    agreeing: models.JSONField[list[int] | None] = models.JSONField(null=True)

    def __str__(self) -> str:
        return "discarded reports"


class SealedHalf(models.Model):
    """How a closed wave was divided. The halves are drawn once, and one of them is opened later.

    The open half has the batches 1 to `through_batch`, and the sealed half has all later ones.
    """

    wave = models.OneToOneField(Wave, on_delete=models.PROTECT, related_name="half")
    through_batch = models.PositiveIntegerField(default=0)  # 0 if the wave could not be divided
    problem = models.TextField(blank=True)  # why the wave could not be divided
    # Whether every combination of declared answers has nobody or enough people in each half.
    has_groups = models.BooleanField(default=False)
    # The claims to test, such as {"names": [outcome, group], "is_higher": true, "than": null}.
    claims: models.JSONField[list[dict[str, Any]]] = models.JSONField(default=list)
    # None until the owner asks for the test, which makes the claims final.
    asked_on = models.DateField(null=True)
    obstacle = models.TextField(blank=True)  # why a worker has not opened the half
    # None while the half is sealed.
    opened_on = models.DateField(null=True)

    class Meta:
        db_table = "aggregator_sealed_half"

    def __str__(self) -> str:
        return f"halves of wave {self.wave_id}"

    @property
    def is_sealed(self) -> bool:
        return not self.problem and self.opened_on is None


class RowsFile(models.Model):
    """The background questions in the file of rows, which a worker proposes and the owner chooses.

    The proposal is a pure function of the wave's batches; `broken_down` also depends on the choice.
    """

    wave = models.OneToOneField(Wave, on_delete=models.PROTECT, related_name="rows_file")
    # The proposal, in the format of aggregator.background.levels.
    proposed: models.JSONField[list[dict[str, Any]]] = models.JSONField()
    # The number of people in the smallest combination of answers in the proposal, or in the
    # smallest block.
    smallest = models.PositiveIntegerField()
    # Whether drawn blocks alone make combinations too small, so that each block has its own file.
    has_files_of_blocks = models.BooleanField()
    # Whether blocks with their own files may be compared with each other.
    crosses_files = models.BooleanField(default=False)
    # None until the owner has made the choice, which is final. The list is empty if no background
    # question was chosen.
    chosen: models.JSONField[list[dict[str, Any]] | None] = models.JSONField(null=True)
    # The other questions that are broken down (aggregator.comparisons.breakdown.together), or None
    # until the first breakdown after the choice.
    broken_down: models.JSONField[list[str] | None] = models.JSONField(null=True)

    class Meta:
        db_table = "aggregator_rows_file"

    def __str__(self) -> str:
        return f"rows of wave {self.wave_id}"

    @property
    def crosses_blocks(self) -> bool:
        """Whether questions of different blocks may be compared."""
        return self.crosses_files or not self.has_files_of_blocks


class Comparison(Job):
    """A comparison of several questions, which a worker computes on request.

    The result is a pure function of the batches that the row names.
    """

    class Kind(models.TextChoices):
        TABLE = "table", "Two questions"
        REGRESSION = "regression", "Outcome and predictors"
        PAIRS = "pairs", "All pairs"
        BREAKDOWN = "breakdown", "Break down"
        SEGMENTS = "segments", "Segments"
        CLAIM = "claim", "Claim"  # two questions, counted in the sealed half alone

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="comparisons")
    through_batch = models.PositiveIntegerField()
    method_version = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    # Names of indicators, the outcome first; for all pairs, the list is empty. A breakdown has the
    # name of its declared question.
    names: models.JSONField[list[str]] = models.JSONField(default=list, blank=True)
    # The number of profiles of segments; 0 for other kinds.
    segments = models.PositiveSmallIntegerField(default=0)
    # Whether the manifest plans the comparison; such a row is kept.
    planned = models.BooleanField(default=False)
    batches_counted = models.PositiveIntegerField(default=0)
    result: models.JSONField[dict[str, Any] | None] = models.JSONField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["wave", "through_batch", "method_version", "kind", "names", "segments"],
                name="aggregator_comparison_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state="done", result__isnull=False)
                | (~models.Q(state="done") & models.Q(result__isnull=True)),
                name="aggregator_comparison_done_with_result",
            ),
        ]
        indexes = [
            _index_due("comparison", *UNFINISHED),
            models.Index(
                fields=["wave", "method_version", "through_batch"],
                condition=models.Q(planned=True),
                name="aggregator_comparison_planned",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {','.join(self.names) or 'all'}"


class ReleaseLedger(models.Model):
    """The part of its cap that a wave has spent, stored with its first release and never reduced.

    ε is counted in hundredths and δ in billionths, so that sums are exact.
    """

    wave = models.OneToOneField(Wave, on_delete=models.PROTECT, related_name="release_ledger")
    cap_hundredths = models.PositiveIntegerField()
    spent_hundredths = models.PositiveIntegerField(default=0)
    delta_cap_nanos = models.PositiveIntegerField()
    delta_spent_nanos = models.PositiveIntegerField(default=0)
    # The reason why the whole cap counts as spent, or "" if it does not.
    suspended = models.CharField(max_length=16, blank=True)

    class Meta:
        db_table = "aggregator_release_ledger"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(spent_hundredths__lte=models.F("cap_hundredths")),
                name="aggregator_release_ledger_within_cap",
            ),
            models.CheckConstraint(
                condition=models.Q(delta_spent_nanos__lte=models.F("delta_cap_nanos")),
                name="aggregator_release_ledger_within_delta",
            ),
            models.CheckConstraint(
                condition=models.Q(suspended="")
                | models.Q(spent_hundredths=models.F("cap_hundredths")),
                name="aggregator_release_ledger_suspended_is_spent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spent_hundredths} of {self.cap_hundredths} hundredths"


class Release(models.Model):
    """A protected figure, reserved on the wave's ledger, drawn once and stored as drawn."""

    class State(models.TextChoices):
        WATCHING = "watching", "Waiting"  # an alert, checked once a day
        RESERVED = "reserved", "Being drawn"
        DRAWN = "drawn", "Drawn"
        LOST = "lost", "Lost"  # interrupted while it was drawn; its loss stays on the ledger

    wave = models.ForeignKey(Wave, on_delete=models.PROTECT, related_name="releases")
    # A random key that names the release in the file that counts draws
    # (aggregator.releases.counters).
    key = models.CharField(max_length=32, unique=True)
    kind = models.CharField(max_length=16, choices=ReleaseKind.choices)
    request: models.JSONField[dict[str, Any]] = models.JSONField()
    request_hash = models.CharField(max_length=64)  # SHA-256 in hexadecimal digits
    through_batch = models.PositiveIntegerField()  # 0 below the minimum batch
    # Whether the manifest planned the release; if not, someone who could see results chose it.
    planned = models.BooleanField(default=False)
    mechanism = models.CharField(max_length=16, choices=Mechanism.choices)
    scale = models.CharField(max_length=80)  # an exact fraction, such as 2 or 89/5
    epsilon_hundredths = models.PositiveIntegerField()
    delta_nanos = models.PositiveIntegerField(default=0)
    rho = models.FloatField(null=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.RESERVED)
    # Explains to the researcher why the release is not drawn yet, or why it is lost.
    problem = models.TextField(blank=True)
    result: models.JSONField[dict[str, Any] | None] = models.JSONField(null=True)
    library = models.CharField(max_length=40, blank=True)
    # The noisy threshold of an alert, drawn at the first check; nobody ever sees it.
    noisy_threshold = models.BigIntegerField(null=True)
    looked_on = models.DateField(null=True)
    # These are days, never times. Readers see the release from public_from on.
    reserved_on = models.DateField(default=today)
    public_from = models.DateField()

    class Meta:
        ordering = ["wave", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["wave", "request_hash", "through_batch"],
                condition=~models.Q(state="lost"),
                name="aggregator_release_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state="drawn", result__isnull=False)
                | (~models.Q(state="drawn") & models.Q(result__isnull=True)),
                name="aggregator_release_drawn_with_result",
            ),
        ]
        indexes = [_index_due("release", "reserved"), _index_due("alert", "watching")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.get_state_display()}"


class ReleaseFolder(models.Model):
    """The one folder that counts draws, stored before any draw (aggregator.releases.folder)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    identity = models.CharField(max_length=32)

    class Meta:
        db_table = "aggregator_release_folder"
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="aggregator_release_folder_one"),
        ]

    def __str__(self) -> str:
        return self.identity


class DueWork(models.Model):
    """Work that is due, and when it was first seen; a sweep that finds it done deletes the row.

    The report tables contain no times, so only these rows show how late work is.
    """

    kind = models.CharField(max_length=16)
    subject = models.PositiveBigIntegerField()  # the primary key of the row that needs work
    # The progress of the work, such as the newest batch. If it changes, other work is due.
    progress = models.PositiveBigIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "due work"
        constraints = [
            models.UniqueConstraint(fields=["kind", "subject"], name="aggregator_due_work_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Upkeep(models.Model):
    """The time when a recurring job last ended, and the result of the job."""

    class Job(models.TextChoices):
        SWEEP = "sweep", "Looking for due work"
        PURGE = "purge", "Erasing traces of sealed reports"
        VERIFY_CLAIM = "verify-claim", "Deciding who recomputes everything"
        VERIFY = "verify", "Recomputing everything from the batches"

    job = models.CharField(max_length=16, primary_key=True, choices=Job.choices)
    ended_at = models.DateTimeField()
    found: models.JSONField[dict[str, Any]] = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "upkeep"

    def __str__(self) -> str:
        return self.get_job_display()
