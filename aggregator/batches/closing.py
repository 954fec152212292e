"""Close waves whose end, a date or a number of reports, was fixed before they opened."""

from __future__ import annotations

from django.utils import timezone

from aggregator.batches.sealing import count_sealed
from aggregator.models import RawReport
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.services import close_wave
from surveys.models import Wave


def _has_reached_its_cap(wave: Wave) -> bool:
    """Return whether the cap is reached, reading no more waiting reports than needed.

    Sealed reports are counted first. If a batch is sealed between the two statements, neither
    counts it, and a later sweep closes the wave. In the other order, the batch would count twice.
    """
    lacking = (wave.cap or 0) - count_sealed(wave)
    if lacking <= 0:
        return True
    waiting = RawReport.objects.filter(wave=wave).order_by()[lacking - 1 : lacking]
    return waiting.exists()


def close_due_waves() -> int:
    """Close the open waves whose frozen end has come; return how many were closed.

    Reports that arrive after the cap is reached and before this call also count. Their number
    depends on when people answered, not on what they said.
    """
    # The coin wave closes with the browser wave, whose date or number of people ends both waves.
    waves = Wave.objects.electronic().order_by().only("state", "cap")
    due = [(wave, Wave.Ending.DATE) for wave in waves.past_closing_date(timezone.now())]
    due += [
        (wave, Wave.Ending.CAP)
        for wave in waves.open()
        .filter(cap__isnull=False)
        .exclude(pk__in=[wave.pk for wave, _ in due])
        if _has_reached_its_cap(wave)
    ]
    closed = 0
    for wave, ending in due:
        try:
            close_wave(wave_id=wave.pk, ending=ending)
        except NotOpen:  # another sweep was faster
            continue
        closed += 1
    return closed
