"""The privacy label: what a respondent reads before the first question, in plain sentences.

Every number comes from the question's real k and T, rounded so that it never promises more
than what runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from privacy.mechanisms import SCALE, RandomizedResponse
from privacy.precision import watched_half_width
from surveys.manifest import Manifest, ManifestQuestion
from surveys.strength import MEDIUM_FROM, STRONG_FROM, TWO_COINS

Z_95 = 1.96
GUESS = "Someone who saw {whose} could make a fair guess."
WORDS_OF_A_QUOTE = 6
# A dependant adds this much at least; less is the rounding of sums.
_TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How one group of equally protected questions is scrambled."""

    scope: str  # "Questions 1 and 3"; empty where one statement covers all
    sentence: str
    strength: str
    swapped: int  # of 100, for the picture; 0 where k > 2

    @property
    def dots(self) -> Dots:
        return Dots(swapped=self.swapped)


@dataclass(frozen=True, kw_only=True)
class Row:
    question: str
    answers: tuple[str, ...]
    odds: tuple[Odds, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PrivacyLabel:
    rows: tuple[Row, ...]
    process: tuple[str, ...]
    together: tuple[str, ...]
    length: str  # how many questions there are


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Ten rows of ten dots as two SVG paths of dashed lines, each dash a dot."""

    swapped: int

    @property
    def all(self) -> str:
        return "".join(f"M5 {10 * row + 5}h91" for row in range(10))

    @property
    def marked(self) -> str:
        rows, rest = divmod(self.swapped, 10)
        lines = [f"M5 {10 * row + 5}h91" for row in range(rows)]
        if rest:
            lines.append(f"M5 {10 * rows + 5}h{10 * rest - 9}")
        return "".join(lines)


def describe_protection(manifest: Manifest) -> PrivacyLabel:
    """Write the label of one survey."""
    if manifest.drawn is not None and manifest.drawn >= manifest.block_count:
        manifest = replace(manifest, drawn=None)  # a draft that cannot be launched yet
    return PrivacyLabel(
        rows=_describe_rows(manifest),
        process=_describe_process(manifest),
        together=_describe_together(manifest),
        length=_describe_length(manifest),
    )


def equivalent_flips(*, k: int, threshold: int) -> int:
    """Return 100 / (1 + e^ε), rounded down: for k = 2, how many of 100 send the other code."""
    swapped = SCALE - threshold
    return 100 * swapped // (swapped + (k - 1) * threshold)


def strength_word(flips: int) -> str:
    if flips >= STRONG_FROM:
        return "strong"
    return "medium" if flips >= MEDIUM_FROM else "light"


def _flips_of(epsilon: float) -> int:
    return math.floor(100 / (1 + math.exp(epsilon)))


def _scrambled(manifest: Manifest) -> list[ManifestQuestion]:
    return [question for question in manifest.questions if question.is_protected]


# --- names of questions --------------------------------------------------------------------------


def _branches(manifest: Manifest) -> bool:
    """Whether answers decide which questions a person sees."""
    return any(q.rule is not None or q.type == "follow_up" for q in manifest.questions)


def _name(manifest: Manifest, named: Sequence[ManifestQuestion]) -> str:
    """By the numbers that the pages bear; by their first words where pages bear none."""
    if _branches(manifest):
        return ", ".join(f"“{_quote(question.text)}”" for question in named)
    to_answer = [question for question in manifest.questions if question.type != "information"]
    numbers = [str(to_answer.index(question) + 1) for question in named]
    if len(numbers) == 1:
        return f"Question {numbers[0]}"
    return f"Questions {', '.join(numbers[:-1])} and {numbers[-1]}"


def _quote(text: str) -> str:
    words = text.split()
    return " ".join(words[:WORDS_OF_A_QUOTE]) + ("…" if len(words) > WORDS_OF_A_QUOTE else "")


def _describe_length(manifest: Manifest) -> str:
    pages = Counter(
        {
            question.name: 2 if question.type == "follow_up" else 1
            for question in manifest.questions
            if question.type != "information"
        }
    )
    total = pages.total()
    if manifest.drawn is not None:
        of_block: Counter[int] = Counter()
        for name, block in manifest.blocks.items():
            of_block[block] += pages.pop(name)
        total = pages.total() + sum(n for _, n in of_block.most_common(manifest.drawn))
    varies = manifest.drawn is not None or _branches(manifest)
    return f"{'Up to ' if varies else ''}{total} question{'' if total == 1 else 's'}"


# --- how well ------------------------------------------------------------------------------------


def _describe_odds(manifest: Manifest) -> tuple[Odds, ...]:
    groups: dict[tuple[str, str, int], list[ManifestQuestion]] = {}
    for question in _scrambled(manifest):
        described = (
            _odds_sentence(manifest, question),
            strength_word(_flips(manifest, question)),
            _swapped(question) if question.k == 2 else 0,
        )
        groups.setdefault(described, []).append(question)
    return tuple(
        Odds(
            scope="" if len(groups) == 1 else _name(manifest, questions),
            sentence=sentence,
            strength=strength,
            swapped=swapped,
        )
        for (sentence, strength, swapped), questions in groups.items()
    )


def _swapped(question: ManifestQuestion) -> int:
    """Of 100 codes of two, how many are the other one."""
    return 100 * (SCALE - question.mechanism.threshold) // SCALE


def _told_by_others(manifest: Manifest, question: ManifestQuestion) -> float:
    """What the codes of questions behind this one tell about it."""
    more = manifest.statement_epsilon(question) - question.epsilon
    return more if more > _TINY else 0.0


def _flips(manifest: Manifest, question: ManifestQuestion) -> int:
    """In flips of 100, how well an answer is protected; of "select several", that to one row."""
    more = _told_by_others(manifest, question)
    if more:
        return _flips_of(question.mechanism.epsilon + more)
    flips = equivalent_flips(k=question.k, threshold=question.mechanism.threshold)
    if question.gate_threshold is not None:
        gate = equivalent_flips(k=question.gate_k, threshold=question.gate_threshold)
        flips = min(flips, gate)
    return flips


def _odds_sentence(manifest: Manifest, question: ManifestQuestion) -> str:
    parts = [_own_odds(question)]
    if question.has_gate:
        parts.append("Whether you answer at all is scrambled too.")
    if _told_by_others(manifest, question):
        parts.append("The codes of later questions tell about this answer too.")
    return " ".join(parts)


def _own_odds(question: ManifestQuestion) -> str:
    if question.type == "yes_no" and question.k == 2:
        yes, no = (option.text for option in sorted(question.options, key=lambda o: -o.code))
        count = _swapped(question)
        return f"Of every 100 people who answer {no}, {count} send the same code as a {yes}."
    others = question.k - 1
    tenths = 1000 * (SCALE - question.mechanism.threshold) // (SCALE * others)
    times = f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths / 10:.1f}"
    which = "the other code" if others == 1 else "each other code"
    if question.type == "several":
        return f"For each row, whether you select it or not, {which} is sent {times} times in 100."
    if question.is_rounded:
        turned = "Your number is turned into one of two codes by chance."
        return f"{turned} Then {which} is sent {times} times in 100."
    if others == 1:
        return f"Whatever you answer, the other answer’s code is sent {times} times in 100."
    return f"Whatever you answer, each other answer’s code is sent {times} times in 100."


def _describe_together(manifest: Manifest) -> tuple[str, ...]:
    codes = Counter(symbol.block for symbol in manifest.symbols if symbol.threshold is not None)
    if manifest.drawn is None:
        fewest = most = codes.total()
    else:
        sizes = sorted(codes.values())
        fewest, most = sum(sizes[: manifest.drawn]), sum(sizes[-manifest.drawn :])
    if most < 2:
        return ()
    word = strength_word(_flips_of(manifest.epsilon))
    count = f"{most} codes" if fewest == most else "codes"
    first = f"Together, your {count} say more than one alone."
    if word == "light":
        return (first, "Taken together, the protection is light.", GUESS.format(whose="them all"))
    return (first, f"Taken together, the protection is {word}.")


# --- rows ----------------------------------------------------------------------------------------


def _describe_rows(manifest: Manifest) -> tuple[Row, ...]:
    answers, them = ("answers", "them") if len(_scrambled(manifest)) > 1 else ("answer", "it")
    odds = _describe_odds(manifest)
    guess: tuple[str, ...] = ()
    see, steal, prove = "No.", "No.", "No."
    copy = "They get a scrambled copy."
    holds = "The database holds only scrambled copies."
    if any(one.strength == "light" for one in odds):
        guess = (GUESS.format(whose="your code"),)
        see, steal, prove = "Not directly.", "Not directly.", "Not for certain."
        copy = "They get a lightly scrambled copy."
        holds = "The database holds only lightly scrambled copies."
    plain = [question for question in manifest.questions if question.type == "declared"]
    seen: tuple[str, ...] = ()
    if plain:
        several = len(plain) > 1
        but = f", with {len(plain)} exceptions." if several else ", with one exception."
        see, steal, prove = (word.removesuffix(".") + but for word in (see, steal, prove))
        holds = holds.replace("only ", "")
        seen = (f"{_name(manifest, plain)} can be read as {'they are' if several else 'it is'}.",)
    return (
        Row(question=f"Can the researchers see my {answers}?", answers=(see, copy, *guess, *seen)),
        Row(
            question=f"Could a hacker or a court get {them} from the database?",
            answers=(steal, holds, *guess, *seen),
        ),
        Row(
            question="Can anyone prove what I answered?",
            answers=(prove, *guess, *seen),
            odds=odds,
        ),
        Row(question="What can they learn?", answers=_describe_finding(manifest)),
        Row(question="What is not hidden?", answers=_describe_what_shows(manifest)),
    )


def _describe_what_shows(manifest: Manifest) -> tuple[str, ...]:
    drawn = ("Which questions were drawn for you.",) if manifest.drawn is not None else ()
    return (
        "That this phone or computer, with its network address, opened this page.",
        *drawn,
        "What someone sees over your shoulder.",
        "Spyware on the phone or computer.",
    )


def _describe_finding(manifest: Manifest) -> tuple[str, ...]:
    questions = _scrambled(manifest)
    shares = [question for question in questions if not question.is_rounded]
    means = [question for question in questions if question.is_rounded]
    learned = []
    if shares:
        yes_no = all(question.type == "yes_no" and question.k == 2 for question in shares)
        what = "says Yes" if yes_no else "gives each answer"
        learned.append(f"The share of everyone who {what}.")
    if means:
        learned.append("The average of the numbers that people give.")
    if not questions:
        return ("What you answer.",)  # a draft that cannot be launched yet
    people = manifest.cap or manifest.display_minimum
    asked = people
    if manifest.drawn is not None:
        asked = max(1, people * manifest.drawn // manifest.block_count)
    weakest = min((q.mechanism for q in shares or means), key=lambda mechanism: mechanism.slope)
    width = _half_width(manifest, weakest, people=asked)
    points = math.ceil(100 * width - 1e-9)
    if points >= 50:
        return (*learned, f"With only {people:,} people even that stays unclear.")
    # Who does not answer, or is not asked, makes the crowd smaller.
    fewer = any(question.refusal or question.rule is not None for question in questions)
    best = " at best" if fewer else ""
    of = f"{points} points" if shares else f"{points} % of the range"
    return (*learned, f"With {people:,} people, that is give or take {of}{best}.")


def _half_width(manifest: Manifest, weakest: RandomizedResponse, *, people: int) -> float:
    """Of the 95 % interval that results will show, for the least precise share there can be."""
    c, d = weakest.other_probability, weakest.slope
    if manifest.cap is None and manifest.closes is None:
        # Nobody fixed the end, so only the wider interval for watchers will be shown.
        middle = min(1.0, max(0.0, (0.5 - c) / d))
        return watched_half_width(share=middle, people=people, mechanism=weakest)
    return Z_95 * 0.5 / (math.sqrt(people) * d)


def _describe_process(manifest: Manifest) -> tuple[str, ...]:
    questions = _scrambled(manifest)
    coins = bool(questions) and all(
        question.k == 2
        and not question.is_rounded
        and not question.has_gate
        and 100 * (SCALE - question.mechanism.threshold) == TWO_COINS * SCALE
        for question in questions
    )
    how = "tosses two coins" if coins else "draws a number"
    many = len(questions) > 1 or any(question.type == "several" for question in questions)
    swap = "for each answer and may swap it" if many else "and may swap your answer"
    return (
        "You answer honestly.",
        f"Before sending, this page {how} {swap}.",
        "This happens on your phone or computer.",
        "Only the result is sent.",
        *_describe_exceptions(manifest),
        *_describe_path(manifest),
    )


def _describe_exceptions(manifest: Manifest) -> tuple[str, ...]:
    plain = [question for question in manifest.questions if question.type == "declared"]
    if not plain:
        return ()
    name = _name(manifest, plain)
    if len(plain) > 1:
        return (f"{name} are not scrambled: your answers are sent as they are.",)
    return (f"{name} is not scrambled: your answer is sent as it is.",)


def _describe_path(manifest: Manifest) -> tuple[str, ...]:
    path = []
    if manifest.drawn is not None:
        single = manifest.block_count == len(manifest.blocks)
        what = "questions" if single else "groups of questions"
        path.append(
            f"You are asked {manifest.drawn} of {manifest.block_count} {what}, "
            "drawn by chance on your phone or computer."
        )
    if _branches(manifest):
        path.append("Which questions you see depends on your answers, but the code looks the same.")
    return tuple(path)
