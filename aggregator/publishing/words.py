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
    unfit: str  # what it takes; said where some questions do not fit
    usual_hundredths: int


KINDS = {
    Kind.TABLE: KindWords(
        about="The share of every answer, with an interval.",
        heading="Publish a table",
        choose="Questions in the table",
        nothing="No question of this survey fits.",
        unfit="a number that some people are not asked, or may decline, has no figure of everyone",
        usual_hundredths=100,
    ),
    Kind.LEADER: KindWords(
        about="Which answer to one question leads, without any count.",
        heading="Publish a leader",
        choose="Question",
        nothing="No question of this survey has answers to choose from.",
        unfit="a leader needs answers to choose from, or a scale of up to 7 points",
        usual_hundredths=50,
    ),
    Kind.TYPICAL: KindWords(
        about="A point of a rating scale: likely one with nearly as many answers below as above.",
        heading="Publish a typical answer",
        choose="Rating scale",
        nothing="This survey has no rating scale of 3 to 7 points.",
        unfit="a typical answer needs a rating scale of 3 to 7 points",
        usual_hundredths=50,
    ),
}


@dataclass(frozen=True, kw_only=True)
class KindChoice:
    """One kind of release on the overview; `cost` is the ε that its form suggests."""

    kind: Release.Kind
    words: KindWords
    is_possible: bool
    cost: int


def suggest_epsilon(kind: Release.Kind, *, left: int) -> int:
    """Suggest an ε in hundredths: not all that is left, so that more can follow."""
    return max(1, min(KINDS[kind].usual_hundredths, left // 2))


def describe_unfit(manifest: Manifest, kind: Release.Kind) -> str:
    """Say which questions are not offered, and why; empty if all are."""
    offered = list_candidates(manifest, kind)
    missing = [one for one in manifest.questions if one.is_answered and one not in offered]
    if not missing:
        return ""
    names = join_list([f"Q{one.number}" for one in missing])
    return f"Not offered: {names}, because {KINDS[kind].unfit}."


def list_choices(manifest: Manifest, *, left: int) -> list[KindChoice]:
    return [
        KindChoice(
            kind=kind,
            words=words,
            is_possible=bool(list_candidates(manifest, kind)),
            cost=suggest_epsilon(kind, left=left),
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
