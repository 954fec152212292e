"""Words about releases for researchers: kinds, choices, amounts of ε and δ."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.models import Release
from aggregator.releases.requests import ReleaseRequest, list_candidates
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

Kind = Release.Kind
MOST_NAMED = 5  # questions in the name of a table


@dataclass(frozen=True, kw_only=True)
class KindWords:
    about: str  # what readers get
    heading: str
    choose: str  # what the form asks for
    nothing: str  # why no question of a survey fits
    usual_hundredths: int  # what it spends unless the researcher chooses otherwise


KINDS = {
    Kind.TABLE: KindWords(
        about="The share of every answer, with an interval.",
        heading="Publish a table",
        choose="Questions in the table",
        nothing="No question of this survey fits.",
        usual_hundredths=100,
    ),
    Kind.LEADER: KindWords(
        about="Which answer to one question leads, without any count.",
        heading="Publish a leader",
        choose="Question",
        nothing="No question of this survey has answers to choose from.",
        usual_hundredths=50,
    ),
    Kind.TYPICAL: KindWords(
        about="The point of a rating scale with as many answers below it as above it.",
        heading="Publish a typical answer",
        choose="Rating scale",
        nothing="This survey has no rating scale of 3 to 7 points.",
        usual_hundredths=50,
    ),
}


@dataclass(frozen=True, kw_only=True)
class KindChoice:
    """One kind of release on the overview; `cost` is what it spends by default."""

    kind: Release.Kind
    words: KindWords
    is_possible: bool
    cost: int


def list_choices(manifest: Manifest, *, left: int) -> list[KindChoice]:
    return [
        KindChoice(
            kind=kind,
            words=words,
            is_possible=bool(list_candidates(manifest, kind)),
            cost=min(words.usual_hundredths, left),
        )
        for kind, words in KINDS.items()
    ]


def find_questions(manifest: Manifest, release: Release) -> tuple[ManifestQuestion, ...]:
    """Return the questions that a release is about."""
    names = ReleaseRequest.from_json(release.request).questions
    return tuple(one for one in manifest.questions if one.name in names)


def name_release(manifest: Manifest, release: Release) -> str:
    """Name a release in a list: Table of Q1, Q2 and Q4."""
    numbers = [f"Q{one.number}" for one in find_questions(manifest, release)]
    questions = join_list(numbers) if len(numbers) <= MOST_NAMED else f"{len(numbers)} questions"
    return f"{release.get_kind_display()} of {questions}"
