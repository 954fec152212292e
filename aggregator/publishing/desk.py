"""The state of a survey's releases: its wave, its ledger, or why nothing can be released."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.http import Http404

from aggregator.releases.ledger import Account, find_final_counts, read_account
from aggregator.releases.sentences import promise_together
from aggregator.results.display import Standing, find_view
from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.modes import Mode
from surveys.models import Survey, Wave

_NOTHING_CAME = (Standing.EMPTY, Standing.DISCARDED)


class Obstacle(StrEnum):
    """Why nothing can be released; the template contains the sentences."""

    NOT_PROTECTED = "not-protected"
    DRAFT = "draft"
    OPEN = "open"
    COUNTING = "counting"
    EMPTY = "empty"
    OFF = "off"  # the owner withdrew the public page
    SUSPENDED = "suspended"
    SPENT = "spent"


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What pages about releases need to know about one wave."""

    survey: Survey
    mode: Mode
    wave: Wave | None = None
    account: Account | None = None  # of a protected wave
    obstacle: Obstacle | None = None

    @property
    def manifest(self) -> Manifest:
        assert self.wave is not None
        return self.wave.description

    @property
    def is_of_coins(self) -> bool:
        return self.mode == Mode.MANUAL

    @property
    def promise(self) -> str:
        """What the releases so far, and a fully spent cap, reveal about who took part."""
        assert self.account is not None
        return promise_together(
            self.manifest,
            spent_hundredths=self.account.spent,
            delta_nanos=self.account.delta_spent,
        )

    @property
    def publishes_exact(self) -> bool:
        if self.wave is None:
            return self.survey.publication == Publication.EXACT
        return self.manifest.publishes_exact


def find_desk(survey: Survey, *, mode: Mode) -> Desk:
    """Read a survey's newest wave of this mode; raise Http404 if the survey never offered coins."""
    wave = survey.waves.filter(mode=mode).newest()
    if wave is None:
        if mode == Mode.MANUAL:
            raise Http404("This survey offers no coins.")
        is_protected = survey.publication == Publication.PROTECTED
        obstacle = Obstacle.DRAFT if is_protected else Obstacle.NOT_PROTECTED
        return Desk(survey=survey, mode=mode, obstacle=obstacle)
    wave.survey = survey
    if not wave.description.publishes_releases:
        return Desk(survey=survey, mode=mode, wave=wave, obstacle=Obstacle.NOT_PROTECTED)
    account = read_account(wave)
    return Desk(
        survey=survey,
        mode=mode,
        wave=wave,
        account=account,
        obstacle=_find_obstacle(wave, account),
    )


def _find_obstacle(wave: Wave, account: Account) -> Obstacle | None:
    if wave.is_open:
        return Obstacle.OPEN
    if account.suspended:
        return Obstacle.SUSPENDED
    if find_final_counts(wave) is None:
        nothing = find_view(wave.survey, mode=wave.mode).standing in _NOTHING_CAME
        return Obstacle.EMPTY if nothing else Obstacle.COUNTING
    if account.left < 1:
        return Obstacle.SPENT
    return Obstacle.OFF if wave.survey.public_results_off else None
