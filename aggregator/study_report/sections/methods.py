"""A paragraph on methods to paste into a paper, written from the manifest and the results.

The paragraph gives what STROBE requires in the methods of an observational study and what the NCHS
requires for proportions, as far as Murmur can know this. The rest is listed for the authors to add.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from aggregator.results.display import Results
from aggregator.results.reliability import WIDE
from aggregator.results.sentences import EXACT
from aggregator.results.snapshots import METHOD_VERSION, ended_at_cap
from aggregator.study_report.content import Listing, Paragraph, Section, Tone
from aggregator.study_report.sections import references as source
from aggregator.study_report.sections.head import describe_dates
from aggregator.study_report.sections.protection import name_questions
from surveys.formatting import epsilon, whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey, Wave
from surveys.planning.figures import COMPARED_AT, WIDEST

METHODS = "methods"
RATE = "The response rate is the number of reports divided by the number of people invited."
COMPARISONS = (
    "Planned comparisons are differences between true shares, estimated from the joint likelihood "
    f"of both questions, with profile-likelihood intervals ({source.VENZON}); their p-values are "
    f"adjusted by Holm’s method ({source.HOLM})."
)
TO_ADD = (
    "who could take part, and how people were invited",
    "who approved the study, who paid for it, and whether it was registered",
    "what the questions were meant to measure, and how the number of people asked was chosen",
    "how those who took part may differ from the people you write about",
)
# How a paper names each kind of interval.
KINDS = {
    "likelihood_ratio": f"likelihood-ratio intervals ({source.WILKS})",
    "clopper_pearson": f"Clopper–Pearson intervals ({source.CLOPPER}) for the reported shares, "
    "mapped to true shares",
    "likelihood_ratio_conditional": "profile-likelihood intervals for shares among those who "
    f"answered ({source.WILKS})",
    "likelihood_ratio_joint": "profile-likelihood intervals from the joint likelihood of a "
    f"question and those that decide who is asked it ({source.WILKS}; {source.AITKEN})",
    "likelihood_ratio_mean": f"profile-likelihood intervals for means ({source.WILKS}; "
    f"{source.OWEN})",
    EXACT: "counts, where only unscrambled answers decide who is asked",
}


def write_methods(survey: Survey, wave: Wave, results: Results | None) -> Section:
    manifest = wave.description
    rate = [RATE] if survey.people_invited else []
    paragraphs = (
        [*_describe_design(wave, manifest), *rate],
        _describe_mechanism(manifest),
        _describe_estimates(results) if results else (),
        [_describe_suppression(wave), _name_software(wave)],
    )
    return Section(
        anchor=METHODS,
        heading="Methods, to paste into a paper",
        parts=(
            *(
                Paragraph(text=text, tone=Tone.TO_PASTE)
                for text in map(" ".join, paragraphs)
                if text
            ),
            Paragraph(text="Reviewers ask for the following, which Murmur cannot know. Add:"),
            Listing(items=TO_ADD),
        ),
    )


def _name_software(wave: Wave) -> str:
    return (
        f"Estimates were computed with Murmur {settings.VERSION} (methods {METHOD_VERSION}). The "
        f"survey’s frozen description has the SHA-256 {wave.manifest_hash_hex}."
    )


def _describe_design(wave: Wave, manifest: Manifest) -> Iterator[str]:
    dates = describe_dates(wave).replace(", still open", "")
    when = (
        dates.replace("From", "open since") if wave.closed_at is None else f"in the field {dates}"
    )
    yield f"The data come from an online survey, {when}."
    if manifest.drawn is not None:
        yield (
            f"Each respondent’s browser drew {manifest.drawn} of {manifest.block_count} blocks of "
            "questions at random before the first question."
        )


def _describe_mechanism(manifest: Manifest) -> Iterator[str]:
    scrambled = [question for question in manifest.questions if question.is_scrambled]
    if not scrambled:
        yield "No answer was randomized."
        return
    yield (
        "Answers were protected by local differential privacy: before sending, each respondent’s "
        f"browser randomized them by k-ary randomized response ({source.WARNER}; "
        f"{source.KAIROUZ}). For a question with k codes, it sent the true code with probability t "
        "and each other code with probability c = (1 − t)/(k − 1). The parameters were "
        f"{_list_parameters(scrambled)}."
    )
    if scores := [question for question in scrambled if question.score is not None]:
        yield (
            f"Each respondent’s device added up the items of {name_questions(scores)}. Only the "
            "total, its band, or whether it reached the cut-off was randomized and sent."
        )
    if any(question.is_rounded for question in scrambled):
        yield f"Numbers were first rounded at random to one of two codes ({source.DING})."
    yield (
        "All codes of one respondent together have an ε of at most "
        f"{epsilon(manifest.drawn_epsilon)} ({source.DWORK})."
    )
    declared = [question for question in manifest.questions if question.is_declared]
    if declared:
        yield f"Answers to {name_questions(declared)} were sent as they are."


def _list_parameters(questions: list[ManifestQuestion]) -> str:
    """Write each set of parameters, such as "k = 2, t = 0.7500, ε = 1.10 in Q1–Q3"."""
    alike: dict[str, list[ManifestQuestion]] = {}
    for question in questions:
        alike.setdefault(_write_parameters(question), []).append(question)
    return "; ".join(f"{text} in {name_questions(same)}" for text, same in alike.items())


def _write_parameters(question: ManifestQuestion) -> str:
    mechanism = question.mechanism
    text = f"k = {mechanism.symbols}, t = {mechanism.keep_probability:.4f}"
    if question.has_items:
        text += f" for each of {len(question.options)} items"
    if question.has_gate:
        gate = question.gate_mechanism
        text += f", k = {gate.symbols}, t = {gate.keep_probability:.4f} for whether it was answered"
    return f"{text}, ε = {epsilon(question.epsilon)}"


def _describe_estimates(results: Results) -> Iterator[str]:
    yield (
        "True shares were estimated without bias as (S/n − c)/(t − c), where S of n reports show a "
        "code; shares among some of the people are ratios of such estimates, or most likely shares "
        "where rules decide who is asked. An estimate outside its interval is shown as the nearer "
        "end of the interval."
    )
    shown = [estimate for question in results.questions for estimate in question.shown]
    used = {estimate.method for estimate in shown if estimate.is_shown}
    if results.manifest.planned_comparisons:
        yield COMPARISONS
    kinds = [text for method, text in KINDS.items() if method in used]
    if kinds:
        yield f"The intervals have a level of 95 % and are {'; '.join(kinds)}. {_say_why(results)}"


def _say_why(results: Results) -> str:
    if results.fixed_end and ended_at_cap(results.wave):
        return (
            "They are valid for a single analysis: the number of reports at which the survey ended "
            "was fixed before it opened."
        )
    if results.fixed_end:
        return (
            "They are valid for a single analysis: the end of the survey was fixed before it "
            "opened."
        )
    if results.is_one_look:
        return "They are valid for a single analysis: no results were shown before the close."
    may = "results may be watched" if results.wave.is_open else "any look could be the last"
    return (
        "They hold at 95 % for all looks together, by a group-sequential design that spends the "
        f"error from look to look ({source.LAN}; {source.JENNISON}), so {may}."
    )


def _describe_suppression(wave: Wave) -> str:
    return (
        f"Reports were counted in batches of at least {whole(wave.minimum_batch)}, and nothing was "
        f"estimated from fewer than {whole(wave.crowd)}. The marks are based on the standards of "
        f"the National Center for Health Statistics ({source.PARKER}), but depend only on the "
        "design and the number of reports: an estimate is marked † if its interval would be wider "
        f"than {100 * WIDE:.0f} points at a share of {100 * COMPARED_AT:.0f} %, and not shown if "
        f"wider than {100 * WIDEST:.0f} points."
    )
