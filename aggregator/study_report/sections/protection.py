"""How answers were protected, in plain words and with numbers from the manifest."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.study_report.content import (
    Fact,
    Facts,
    Listing,
    Paragraph,
    Part,
    Row,
    Section,
    Table,
    Words,
)
from surveys.formatting import epsilon, guess, join_list, odds_factor, whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import HARDLY, PRACTICALLY_CERTAIN_FROM, Strength
from surveys.models import Wave

PROTECTION = "protection"
HARDLY_PROTECTED = "hardly protected"
EPSILON = (
    "ε is the privacy loss, rounded up. It limits how much the codes can tell anyone about an "
    "answer. Related questions reveal something about the same "
    "answer."
)


def write_protection(wave: Wave, manifest: Manifest) -> Section:
    scrambled = [question for question in manifest.questions if question.is_scrambled]
    parts: list[Part] = [
        Paragraph(
            text="Each browser scrambled every answer before sending it, unless this section says "
            "otherwise. The server received the scrambled codes and never an answer."
        )
    ]
    if scrambled:
        # Each strength is computed once, because finding what all codes say about an answer is
        # slow.
        strengths = [(question, _find_strength(manifest, question)) for question in scrambled]
        one = max(strength.statement_epsilon for _, strength in strengths)
        parts += [
            _write_table(strengths),
            *(Paragraph(text=text) for text in _describe_meaning(one, manifest.drawn_epsilon)),
        ]
    parts += [
        Paragraph(text=_describe_crowd(wave)),
        Paragraph(text="What is not protected:"),
        Listing(items=tuple(_list_unprotected(manifest))),
        Facts(rows=(Fact(name="Manifest, SHA-256", value=Words(text=wave.manifest_hash_hex)),)),
        Paragraph(
            text="The manifest is the frozen description of this survey. Respondents were shown "
            "its hash before they answered, and nobody can change it without changing the hash."
        ),
    ]
    return Section(anchor=PROTECTION, heading="How answers were protected", parts=tuple(parts))


def _write_table(strengths: list[tuple[ManifestQuestion, Strength]]) -> Table:
    """Write one row for each set of questions that are scrambled alike."""
    alike: dict[tuple[str, str, str, str], list[ManifestQuestion]] = {}
    for question, strength in strengths:
        row = (
            _describe_scrambling(question, strength),
            HARDLY_PROTECTED if strength.word == HARDLY else strength.word,
            epsilon(question.epsilon),
            epsilon(strength.statement_epsilon),
        )
        alike.setdefault(row, []).append(question)
    return Table(
        caption="How each question was scrambled",
        header=("Questions", "Scrambling", "Protection", "ε", "ε with related questions"),
        rows=tuple(
            Row(cells=tuple(Words(text=text) for text in (name_questions(same), *row)))
            for row, same in alike.items()
        ),
        widths=(3, 6, 2),
        notes=(EPSILON,),
    )


def _describe_scrambling(question: ManifestQuestion, strength: Strength) -> str:
    if not question.has_items:
        return strength.sentence
    return f"For each of {len(question.options)} options: {strength.sentence}"


def _find_strength(manifest: Manifest, question: ManifestQuestion) -> Strength:
    return Strength(
        flips=question.flips,
        mechanism=question.mechanism,
        statement=manifest.statement_epsilon(question),
    )


def name_questions(questions: list[ManifestQuestion]) -> str:
    """Write "Q1–Q3, Q5" for the questions 1, 2, 3 and 5."""
    spans: list[list[int]] = []
    for number in sorted(question.number for question in questions):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"Q{first}" if first == last else f"Q{first}–Q{last}" for first, last in spans)


def _describe_meaning(one: float, total: float) -> Iterator[str]:
    """Say how much the codes about one answer and all codes of a person reveal, given their ε."""
    yield (
        "What this means: a person’s codes change the odds of any guess about one answer by a "
        f"factor of {odds_factor(one)} at most, for any reader, whatever else that reader knows. A "
        "guess between two equally likely answers is right 50 times in 100 without the codes, and "
        f"at most {guess(one)} times in 100 with them."
    )
    if total > one:
        certain = ": practically certain" if total >= PRACTICALLY_CERTAIN_FROM else ""
        yield (
            f"All codes of one person together have an ε of at most {epsilon(total)}. Someone who "
            "reads all of them, and knows how a person’s answers are related, guesses right at "
            f"most {guess(total)} times in 100{certain}."
        )


def _describe_crowd(wave: Wave) -> str:
    return (
        f"Reports were sealed and counted in batches of at least {whole(wave.minimum_batch)} (K). "
        f"Figures exist only for questions and background groups with at least {whole(wave.crowd)} "
        "reports. No time, address or account is stored with a report."
    )


def _list_unprotected(manifest: Manifest) -> Iterator[str]:
    declared = [question for question in manifest.questions if question.is_declared]
    if declared:
        names = join_list([f"Q{question.number}" for question in declared])
        yield f"Answers to {names} were sent as they are. Respondents were told so."
    if manifest.publishes_releases:
        yield (
            "Releases limit what their readers can tell about whether any one person took part. "
            "Nothing else hides that."
        )
    else:
        yield "The survey does not hide that a person took part."
    yield "Results about a group also say something about members who did not answer."
    yield "The protection holds for everyone whose browser ran the page that the survey published."
    if manifest.coins:
        yield (
            "People could also toss two coins. For these people, the ε of all answers together is "
            f"{epsilon(manifest.coin_epsilon)}."
        )
