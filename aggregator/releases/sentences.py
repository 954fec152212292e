"""The sentences below every release, about its cost, what readers learn, and how it was drawn.

Sentences for all readers are in the active language; those for specialists are in English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite

from django.utils.translation import gettext as _

from aggregator.models import Release
from aggregator.releases.figures import KeyDriverFigures, QuestionFigures, TableFigures
from aggregator.releases.readers import (
    ReaderLine,
    count_honest,
    exact_reader_epsilons,
    find_worst,
    reader_epsilons,
)
from privacy.central.key_driver import FACTOR as RULE_FACTOR
from privacy.central.median import FACTOR
from surveys.formatting import cap, delta, epsilon, guess, join_list, whole
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest
from surveys.manifest.readers import Loss
from surveys.manifest.releases import ReleaseKind
from surveys.releasing.noise import Mechanism
from surveys.respondent.label.parts import join_sentences

# The sections of the methods that explain how each kind is made.
ANCHORS = {
    ReleaseKind.TABLE: "protected-table",
    ReleaseKind.LEADER: "leader",
    ReleaseKind.MEDIAN: "median",
    ReleaseKind.KEY_DRIVER: "key-driver",
    ReleaseKind.TYPICAL: "median",
    ReleaseKind.ALERT: "alert",
}
_NOISE = {
    Mechanism.LAPLACE: "Discrete Laplace noise of scale {scale} on every count",
    Mechanism.GAUSSIAN: (
        "Discrete Gaussian noise with a standard deviation of {scale} on every count"
    ),
    Mechanism.PERMUTE_AND_FLIP: (
        "Permute-and-flip: a choice by chance, with exponential noise of scale {scale}"
    ),
    Mechanism.SPARSE_VECTOR: (
        "Sparse vector: discrete Laplace noise of scale {scale} on every look, and of half that "
        "scale on the threshold"
    ),
}
_FACTORS = {
    ReleaseKind.MEDIAN: FACTOR,
    ReleaseKind.TYPICAL: FACTOR,
    ReleaseKind.KEY_DRIVER: RULE_FACTOR,
}
_ROUNDING = 1e-9
UNPLANNED = "chosen after seeing results: not covered"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line below a figure; `anchor` is where the methods explain it."""

    name: str
    text: str
    anchor: str


def list_lines(release: Release, manifest: Manifest, *, spent_hundredths: int) -> tuple[Line, ...]:
    """List the lines below the figure of a release.

    `spent_hundredths` is the ε spent by all releases for the same readers, including `release`.
    """
    return (
        Line(name="Took part", text=describe_took_part(release), anchor="two-promises"),
        Line(
            name="About answers, to readers",
            text=describe_readers(reader_epsilons(manifest, [release])),
            anchor="epsilon-for-readers",
        ),
        Line(
            name="Spent",
            text=describe_spent(release, manifest, spent_hundredths=spent_hundredths),
            anchor="ledger",
        ),
        Line(
            name="Mechanism",
            text=describe_mechanism(release),
            anchor=ANCHORS[ReleaseKind(release.kind)],
        ),
    )


def describe_unplanned(release: Release, manifest: Manifest) -> str:
    """Mark a release that could have been planned but was not; return "" for other releases."""
    is_marked = manifest.planned_releases is not None and not release.planned
    return UNPLANNED if is_marked else ""


def promise(release: Release, manifest: Manifest) -> str:
    """Say how little one release reveals about whether a person took part."""
    sentence = _(
        "With this release alone, a guess about whether a given person took part is right at most "
        "%(most)s times in 100, instead of 50."
    )
    right = write_guess(release.epsilon_hundredths, release.delta_nanos)
    return _promise(sentence % {"most": right}, manifest)


def promise_together(manifest: Manifest, *, spent_hundredths: int, delta_nanos: int) -> str:
    """Say what all releases so far, and all future releases, can reveal about who took part."""
    most = manifest.release_epsilon_hundredths or 0
    # Translators: how often a guess is right, in all of these.
    if spent_hundredths == 0:
        sentence = _(
            "A guess about whether a given person took part is right at most %(limit)s times in "
            "100 after all future releases, instead of 50."
        )
    elif spent_hundredths < most:
        sentence = _(
            "A guess about whether a given person took part is right at most %(most)s times in 100 "
            "(%(limit)s times after all future releases), instead of 50."
        )
    else:
        sentence = _(
            "A guess about whether a given person took part is right at most %(most)s times in "
            "100, instead of 50."
        )
    numbers = {
        "most": write_guess(spent_hundredths, delta_nanos),
        "limit": write_guess(most, manifest.release_delta_nanos or 0),
    }
    return _promise(sentence % numbers, manifest)


def _promise(sentence: str, manifest: Manifest) -> str:
    if manifest.planned_releases is not None:
        return sentence
    # With one report fewer than the smallest batch there is no release, so one person can decide
    # whether any figures exist.
    condition = _("This holds if at least %(others)s others took part.")
    return join_sentences((sentence, condition % {"others": whole(manifest.minimum_batch)}))


def write_guess(epsilon_hundredths: int, delta_nanos: int) -> str:
    """Write how many guesses out of 100 may be right."""
    loss = Loss(epsilon=epsilon_hundredths / HUNDREDTHS, delta=delta_nanos / NANOS)
    return guess(loss.guess_epsilon)


def describe_took_part(release: Release) -> str:
    """Write the loss of a release, such as ε = 0.50, δ = 10⁻⁶."""
    loss = f"ε = {cap(release.epsilon_hundredths)}"
    return f"{loss}, δ = {delta(release.delta_nanos)}" if release.delta_nanos else loss


def describe_readers(lines: Sequence[ReaderLine]) -> str:
    """Say what readers and the server can learn about the answer that readers learn most about."""
    worst = find_worst(lines)
    if worst is None:
        return "nothing"
    which = f" about Q{worst.question.number}" if len(lines) > 1 else ""
    return f"{write_reader(worst)}{which} at most ({write_server(worst)})"


def write_reader(line: ReaderLine) -> str:
    """Write what readers can learn, such as ε = 0.25 or ε = 0.25, δ = 10⁻⁶."""
    # As a float, 1.1 is a little more than 1.1, which is no reason to write 1.11.
    loss = f"ε = {epsilon(line.reader - _ROUNDING)}"
    return f"{loss}, δ = {delta(ceil(line.delta * NANOS - _ROUNDING))}" if line.delta else loss


def write_server(line: ReaderLine) -> str:
    """Write what the server can learn, such as server: 1.10."""
    if not isfinite(line.server):
        return "the server has this answer as it is"
    return f"server: {epsilon(line.server)}"


def describe_spent(release: Release, manifest: Manifest, *, spent_hundredths: int) -> str:
    """Say how much of the cap a release spent."""
    own, all_ = cap(release.epsilon_hundredths), cap(manifest.release_epsilon_hundredths or 0)
    spent = f"{own} of the {all_} that this survey may spend"
    if spent_hundredths == release.epsilon_hundredths:
        return spent
    return f"{spent}; all releases together {cap(spent_hundredths)}"


def describe_mechanism(release: Release) -> str:
    """Name the mechanism, its scale, and the library that drew the noise."""
    how = _NOISE[Mechanism(release.mechanism)].format(scale=write_own_scale(release))
    if release.kind == ReleaseKind.KEY_DRIVER:
        how += "; then discrete Laplace noise of the same scale on every count behind it"
    by = f" by {release.library}" if release.library else ""
    often = "" if release.kind == ReleaseKind.ALERT else ", drawn once"
    return f"{how}{often}{by}"


def write_own_scale(release: Release) -> str:
    """Write the scale of a release's noise in reports."""
    return write_scale(find_own_scale(release))


def find_own_scale(release: Release) -> Fraction:
    """Return the scale in reports; some choices store it in thousandths of a report."""
    return Fraction(release.scale) / _FACTORS.get(ReleaseKind(release.kind), 1)


def describe_people(figures: TableFigures) -> str:
    """Say roughly how many people took part, or return "" if the figures do not show it."""
    if figures.people is None or not figures.is_enough:
        return ""
    took_part = _("About %(people)s ± %(margin)s people took part (noise included).")
    return took_part % {"people": whole(figures.people), "margin": whole(figures.margin)}


def build_asked_cells(figures: QuestionFigures | KeyDriverFigures) -> str:
    """Say roughly how many people were asked a question."""
    # The margin covers the noise with probability 95 %.
    asked = _("About %(people)s ± %(margin)s people were asked (noise included).")
    return asked % {"people": whole(figures.people), "margin": whole(figures.margin)}


def describe_exact_readers(manifest: Manifest) -> str:
    """Say what readers of exact results can learn, and why; return "" if there are no answers."""
    lines = exact_reader_epsilons(manifest)
    hidden = [line for line in lines if line.reader < line.server]
    bare = [line for line in lines if line not in hidden]
    sentences = []
    if worst := find_worst(hidden):
        sentences.append(
            f"Readers of this page learn at most {write_reader(worst)} about "
            f"{_name_answers(hidden, all_of=lines)} if at least "
            f"{whole(count_honest(manifest))} people answered honestly, because readers see "
            f"counts only. The server learns at most ε = {epsilon(worst.server)}. If anyone "
            "publishes rows of reports, readers learn as much as the server."
        )
    if worst := find_worst(bare):
        sentences.append(
            f"Readers of this page learn at most {write_reader(worst)} about "
            f"{_name_answers(bare, all_of=lines)}. The server learns as much, because scrambling "
            "is the only protection there."
        )
    return " ".join(sentences)


def _name_answers(lines: Sequence[ReaderLine], *, all_of: Sequence[ReaderLine]) -> str:
    if len(lines) == len(all_of):
        return "an answer"
    names = join_list([f"Q{line.question.number}" for line in lines], last="or")
    return f"the answer to {names}"


def write_scale(scale: Fraction) -> str:
    """Write 89/5 as 17.8, and 10/3 as about 3.33; files contain the exact fraction."""
    digits = 0 if scale >= 100 else 1 if scale >= 10 else 2
    text = f"{float(scale):,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if digits else text
    return text if Fraction(text.replace(",", "")) == scale else f"about {text}"
