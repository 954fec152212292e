"""The sentences below every release: what it cost, for whom, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite

from aggregator.models import Release
from aggregator.releases.figures import QuestionFigures, TableFigures
from aggregator.releases.readers import (
    ReaderLine,
    count_honest,
    exact_reader_epsilons,
    find_worst,
    reader_epsilons,
)
from privacy.central.typical import FACTOR
from surveys.formatting import cap, delta, epsilon, join_list, odds_factor, whole
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest

# Where the methods explain how each kind is made.
ANCHORS = {
    Release.Kind.TABLE: "protected-table",
    Release.Kind.LEADER: "leader",
    Release.Kind.TYPICAL: "typical-answer",
}
_NOISE = {
    Release.Mechanism.LAPLACE: "Discrete Laplace noise of scale {scale} on every count",
    Release.Mechanism.GAUSSIAN: (
        "Discrete Gaussian noise with a standard deviation of {scale} on every count"
    ),
    Release.Mechanism.PERMUTE_AND_FLIP: (
        "Permute-and-flip: a choice by chance, with exponential noise of scale {scale}"
    ),
}
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line below a figure; `anchor` is where the methods explain it."""

    name: str
    text: str
    anchor: str


def list_lines(release: Release, manifest: Manifest, *, spent_hundredths: int) -> tuple[Line, ...]:
    """List what every release says below its figure.

    `spent_hundredths` is what all releases that the same readers see have spent, with this one.
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
            anchor=ANCHORS[Release.Kind(release.kind)],
        ),
    )


def promise(release: Release, manifest: Manifest) -> str:
    """Say in one line what readers of a release cannot learn."""
    factor = odds_factor(release.epsilon_hundredths / HUNDREDTHS)
    return _promise(
        "these figures",
        f"{factor} times what it was{_write_addition(release.delta_nanos)}",
        manifest,
    )


def promise_together(manifest: Manifest, *, spent_hundredths: int, delta_nanos: int) -> str:
    """Say in one line what all releases so far reveal together, and what all may ever reveal."""
    most = manifest.release_epsilon_hundredths or 0
    limit = odds_factor(most / HUNDREDTHS)
    added = _write_addition(delta_nanos)
    limits = f"{odds_factor(spent_hundredths / HUNDREDTHS)} times what it was{added}"
    if spent_hundredths < most:
        added = _write_addition(manifest.release_delta_nanos or 0)
        limits += f" ({limit} times{added} with all that may follow)"
    return _promise("all figures here", limits, manifest)


def _promise(figures: str, limits: str, manifest: Manifest) -> str:
    # With one report less than the smallest batch there is no release, so one person can decide
    # whether there are any figures.
    return (
        f"If at least {whole(manifest.minimum_batch)} others took part, adding or removing any one "
        f"person changes the chance of {figures} to at most {limits}."
    )


def _write_addition(delta_nanos: int) -> str:
    """δ is added to the chance of everything: it is not how often the factor is exceeded."""
    return f" plus {delta(delta_nanos)}" if delta_nanos else ""


def describe_took_part(release: Release) -> str:
    """Write ε = 0.50, δ = 10⁻⁶."""
    loss = f"ε = {cap(release.epsilon_hundredths)}"
    return f"{loss}, δ = {delta(release.delta_nanos)}" if release.delta_nanos else loss


def describe_readers(lines: Sequence[ReaderLine]) -> str:
    """Say what readers can learn about the answer of which they learn most, and what the server."""
    worst = find_worst(lines)
    if worst is None:
        return "nothing"
    which = f" about Q{worst.question.number}" if len(lines) > 1 else ""
    return f"{write_reader(worst)}{which} at most ({write_server(worst)})"


def write_reader(line: ReaderLine) -> str:
    """Write ε = 0.25, or ε = 0.25, δ = 10⁻⁶."""
    # 1.1 as a float is a little more than 1.1, which is no reason to write 1.11.
    loss = f"ε = {epsilon(line.reader - _ROUNDING)}"
    return f"{loss}, δ = {delta(ceil(line.delta * NANOS - _ROUNDING))}" if line.delta else loss


def write_server(line: ReaderLine) -> str:
    """Write server: 1.10."""
    if not isfinite(line.server):
        return "the server has this answer as it is"
    return f"server: {epsilon(line.server)}"


def describe_spent(release: Release, manifest: Manifest, *, spent_hundredths: int) -> str:
    """Say what a release spent of the survey's cap."""
    own, all_ = cap(release.epsilon_hundredths), cap(manifest.release_epsilon_hundredths or 0)
    spent = f"{own} of the {all_} that this survey may spend"
    if spent_hundredths == release.epsilon_hundredths:
        return spent
    return f"{spent}; all releases together {cap(spent_hundredths)}"


def describe_mechanism(release: Release) -> str:
    """Name the mechanism, its scale, and the library that drew the noise."""
    how = _NOISE[Release.Mechanism(release.mechanism)].format(scale=write_own_scale(release))
    by = f" by {release.library}" if release.library else ""
    return f"{how}, drawn once{by}"


def write_own_scale(release: Release) -> str:
    """Write the scale of a release's noise in reports."""
    return write_scale(find_own_scale(release))


def find_own_scale(release: Release) -> Fraction:
    """Return the scale in reports; that of a typical answer is stored in thousandths of one."""
    factor = FACTOR if release.kind == Release.Kind.TYPICAL else 1
    return Fraction(release.scale) / factor


def describe_people(figures: TableFigures) -> str:
    """Say roughly how many people took part; empty if no question was asked of everyone."""
    if figures.people is None or not figures.is_enough:
        return ""
    return f"About {_write_people(figures.people, figures.margin)} took part (noise included)."


def build_asked_cells(figures: QuestionFigures) -> str:
    """Say roughly how many people were asked one question."""
    return f"About {_write_people(figures.people, figures.margin)} were asked (noise included)."


def _write_people(people: int, margin: int) -> str:
    """Write 1,003 ± 8 people; the margin is that of the noise, with 95 %."""
    return f"{whole(people)} ± {whole(margin)} people"


def describe_too_few(figures: QuestionFigures | TableFigures) -> str:
    return f"Too few people for this table: it takes about {whole(figures.people_needed)}."


def describe_exact_readers(manifest: Manifest) -> str:
    """Say what readers of exact results can learn about an answer, and why; empty for nothing."""
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
            f"{_name_answers(bare, all_of=lines)}, as the server does: only the scrambling "
            "protects there."
        )
    return " ".join(sentences)


def _name_answers(lines: Sequence[ReaderLine], *, all_of: Sequence[ReaderLine]) -> str:
    if len(lines) == len(all_of):
        return "an answer"
    names = join_list([f"Q{line.question.number}" for line in lines], last="or")
    return f"the answer to {names}"


def write_scale(scale: Fraction) -> str:
    """Write 89/5 as 17.8, and 10/3 as about 3.33; files have the exact fraction."""
    digits = 0 if scale >= 100 else 1 if scale >= 10 else 2
    text = f"{float(scale):,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if digits else text
    return text if Fraction(text.replace(",", "")) == scale else f"about {text}"
