"""`manage.py rehearse`: try a survey with synthetic respondents, over HTTP."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from aggregator.simulation.demo import draw_envelopes, encode_envelopes
from aggregator.simulation.fielding import FieldingCommand
from aggregator.simulation.rehearsal import (
    MAX_PEOPLE,
    RehearsalError,
    draw_people,
    open_rehearsal,
    read_groups,
)
from aggregator.simulation.truth import compute_truth
from surveys.authoring.drafts import build_manifest
from surveys.lifecycle.errors import SurveyError
from surveys.models import Survey

ONE_GROUP: list[dict[str, Any]] = [{"share": 1, "answers": {}}]


class Command(FieldingCommand):
    advice = "Close the rehearsal and start another."
    help = (
        "Copy a survey, open the copy, let synthetic respondents answer it over HTTP, and print "
        "each estimate next to the true value. Run it on the server itself: from elsewhere, "
        "MURMUR_REPORTS_PER_MINUTE limits how many reports a network can send."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("survey", help="the last part of the survey's address")
        parser.add_argument("--people", type=int, default=2000)
        parser.add_argument(
            "--answers",
            type=Path,
            help="JSON file with the true answers (aggregator/simulation/rehearsal.py)",
        )
        parser.add_argument("--seed", type=int, default=1, help="seed for drawing the true answers")
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        deadline = time.monotonic() + options["seconds"]
        survey = Survey.objects.filter(slug=options["survey"]).first()
        if survey is None:
            raise CommandError(f"There is no survey {options['survey']}.")
        people = options["people"]
        if not survey.crowd <= people <= MAX_PEOPLE:
            raise CommandError(
                f"--people must be from {survey.crowd:,}, the fewest that results need, to "
                f"{MAX_PEOPLE:,}."
            )
        manifest = build_manifest(survey=survey, wave_number=1)
        try:
            groups = read_groups(self._read(options["answers"]), manifest=manifest)
            wave = open_rehearsal(survey=survey, people=people)
        except (RehearsalError, SurveyError) as error:
            raise CommandError(str(error)) from None
        drawn = draw_people(groups, manifest=manifest, people=people, seed=options["seed"])
        envelopes = draw_envelopes(manifest, drawn)
        bodies = encode_envelopes(wave=wave, envelopes=envelopes)
        self.send(bodies, title="Rehearsal", options=options)
        snapshot = self.wait_for_workers(wave, deadline=deadline)
        self.summarize(wave, snapshot, truth=compute_truth(manifest, drawn))

    def _read(self, path: Path | None) -> Any:
        if path is None:
            return ONE_GROUP
        try:
            return json.loads(path.read_text())
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise CommandError(f"{path} is not valid JSON: {error}.") from None
