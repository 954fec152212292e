"""Send reports, wait for workers and summarize results, for `manage.py demo` and `rehearse`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from aggregator.models import Snapshot
from aggregator.results.display import read_results
from aggregator.results.snapshots import newest_snapshot
from aggregator.simulation.sending import SendingError, send_reports
from aggregator.simulation.truth import write_comparison
from surveys.models import Wave

POLL_SECONDS = 0.5


class FieldingCommand(BaseCommand):
    advice: str  # what to try if sending fails

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="where Murmur runs")
        parser.add_argument("--connections", type=int, default=8, help="number of connections")
        parser.add_argument("--seconds", type=float, default=900, help="time limit")

    def send(self, bodies: Sequence[bytes], *, title: str, options: Mapping[str, Any]) -> None:
        with tqdm(total=len(bodies), desc=title, unit=" reports", mininterval=0.5) as bar:
            try:
                send_reports(
                    bodies,
                    url=options["url"].rstrip("/"),
                    connections=options["connections"],
                    seconds=options["seconds"],
                    on_acknowledged=lambda _: bar.update(),
                )
            except SendingError as error:
                raise CommandError(f"{error} {self.advice}") from error

    def wait_for_workers(self, wave: Wave, *, deadline: float) -> Snapshot:
        """Wait until the closed wave is counted, or its open half if the other half is sealed."""
        while time.monotonic() < deadline:
            snapshot = newest_snapshot(wave)
            if snapshot is not None and (snapshot.final or snapshot.is_half):
                return snapshot
            time.sleep(POLL_SECONDS)
        raise CommandError("All reports are stored, but no worker has counted them yet.")

    def summarize(self, wave: Wave, snapshot: Snapshot, *, truth: Mapping[str, float]) -> None:
        self.stdout.write(f"{snapshot.total:,} reports counted. Estimates and true values:")
        for line in write_comparison(read_results(wave=wave, snapshot=snapshot), truth):
            self.stdout.write(line)
        self.stdout.write(f"Results: /surveys/{wave.survey.slug}/results")
