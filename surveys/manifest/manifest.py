"""The frozen description of a launched survey, as bytes and as an object.

The bytes are canonical JSON (sorted keys, no spaces, no floats, UTF-8). They are stored,
served and hashed as they are; nothing ever writes them a second time. A key that would say
nothing is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from privacy.mechanism.accounting import Entry, basic_epsilon, statement_epsilon
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.rules import Rule, leaves
from surveys.manifest.strength import TWO_COINS

FORMAT = 1
UNPROTECTED = ("declared", "information")
ELECTRONIC = "electronic"
MANUAL = "manual"
# In a report's bytes, where a question was not drawn for a person; on the wire it is "~".
NOT_DRAWN = 255
# More do not fit into the largest report that the intake reads (aggregator/intake/wire.py).
MOST_SYMBOLS = 3963
# A longer scale is told by its mean alone: with k-ary response the distribution of so many points
# costs several times the people (docs/methods.md, rating scales).
MOST_POINTS_WITH_SHARES = 7
REFUSED_TEXT = "Prefer not to say"
NOT_ASKED_TEXT = "Not asked"
NONE_TEXT = "None of these"  # the page's own choice under "select several"


@dataclass(frozen=True, kw_only=True)
class Option:
    code: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """One place in every report: what is sent for a question, or for a part of it.

    `threshold` is None where the answer is sent as it is. `block` is the number of the block
    that the question belongs to; None for what everybody is asked.
    """

    name: str
    question: str
    k: int
    threshold: int | None
    block: int | None

    @cached_property
    def mechanism(self) -> RandomizedResponse:
        if self.threshold is None:
            raise ValueError(f"{self.name} is not randomized")
        return RandomizedResponse(symbols=self.k, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class ManifestQuestion:
    """`options` are the answers to choose from, each with its code.

    After the codes of the answers come that of "prefer not to say", if it is offered, and that
    of "not asked", if there is a rule. A "select several" has a symbol for each option and tells
    these two by a gate, a symbol of its own.
    """

    name: str
    type: str
    text: str
    flips: int = 0
    threshold: int | None = None
    options: tuple[Option, ...] = ()
    refusal: bool = False
    rule: Rule | None = None
    minimum: int | None = None
    maximum: int | None = None
    unit: str = ""
    low_label: str = ""
    high_label: str = ""
    limit: int | None = None
    gate_threshold: int | None = None
    follow_up: str = ""

    @property
    def is_protected(self) -> bool:
        return self.type not in UNPROTECTED

    @property
    def is_rounded(self) -> bool:
        """Whether the answer is a number that is rounded at random to one bit."""
        return self.type == "number" or (
            self.type == "scale" and self.points > MOST_POINTS_WITH_SHARES
        )

    @property
    def points(self) -> int:
        """Whole numbers in the range."""
        assert self.minimum is not None
        assert self.maximum is not None
        return self.maximum - self.minimum + 1

    @property
    def answers(self) -> int:
        """Codes that are answers: they come first."""
        if self.type == "several" or self.is_rounded:
            return 2
        return len(self.options)

    @property
    def refused_code(self) -> int | None:
        """Of the question's symbol, or of the gate, whose code 0 means answered."""
        return self._first_extra if self.refusal else None

    @property
    def not_asked_code(self) -> int | None:
        return None if self.rule is None else self._first_extra + self.refusal

    @property
    def _first_extra(self) -> int:
        return 1 if self.type == "several" else self.answers

    @property
    def _extras(self) -> int:
        return int(self.refusal) + int(self.rule is not None)

    @property
    def has_gate(self) -> bool:
        return self.type == "several" and self._extras > 0

    @property
    def k(self) -> int:
        """Codes of the question's symbol, or of each item's."""
        return 2 if self.type == "several" else self.answers + self._extras

    @property
    def gate_k(self) -> int:
        return 1 + self._extras

    @cached_property
    def mechanism(self) -> RandomizedResponse:
        """Of the question's symbol, or of each item's."""
        assert self.threshold is not None
        return RandomizedResponse(symbols=self.k, threshold=self.threshold)

    @property
    def epsilon(self) -> float:
        """What the question costs by itself; of at most r chosen items 2r can differ."""
        if not self.is_protected:
            return 0.0
        if self.type != "several":
            return self.mechanism.epsilon
        items = len(self.options)
        differing = items if self.limit is None else min(items, 2 * self.limit)
        gate = []
        if self.gate_threshold is not None:
            gate = [RandomizedResponse(symbols=self.gate_k, threshold=self.gate_threshold)]
        parts = [self.mechanism] * differing + gate
        return basic_epsilon(
            [
                Entry(name=str(part), epsilon=mechanism.epsilon)
                for part, mechanism in enumerate(parts)
            ]
        )

    def symbols(self, *, block: int | None) -> Iterator[Symbol]:
        """The question's places in a report, in the order of the wire."""
        if self.type == "information":
            return

        def place(name: str, *, k: int, threshold: int | None) -> Symbol:
            return Symbol(name=name, question=self.name, k=k, threshold=threshold, block=block)

        if self.type != "several":
            yield place(self.name, k=self.k, threshold=self.threshold)
            return
        if self.has_gate:
            yield place(f"{self.name}_gate", k=self.gate_k, threshold=self.gate_threshold)
        for item in range(1, len(self.options) + 1):
            yield place(f"{self.name}_{item}", k=2, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    survey: str
    wave: int
    title: str
    introduction: str
    language: str
    minimum_batch: int
    display_minimum: int
    opens: datetime | None
    closes: datetime | None
    cap: int | None
    questions: tuple[ManifestQuestion, ...]
    # Each person is asked only so many blocks of questions; None if all.
    drawn: int | None = None
    closing_message: str = ""
    quick_exit: bool = False
    # Whether yes-no questions may also be answered with two coins, as a stratum of its own.
    coins: bool = False
    # Who randomizes: "electronic", the browser, or "manual", coins in the respondent's hand.
    mode: str = ELECTRONIC
    # Of every other language, the SHA-256 of its words (surveys.manifest.languages), in base64url.
    translations: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every report's symbols, in the order of the wire."""
        blocks = self.blocks
        return tuple(
            symbol
            for question in self.questions
            for symbol in question.symbols(block=blocks.get(question.name))
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that respondents can choose, that of the author first."""
        return (self.language, *self.translations)

    def symbols_of(self, question: ManifestQuestion) -> tuple[Symbol, ...]:
        return tuple(symbol for symbol in self.symbols if symbol.question == question.name)

    @cached_property
    def blocks(self) -> dict[str, int]:
        """The block of every protected question: those that rules tie together share one."""
        block: dict[str, int] = {}
        for question in self.questions:
            if not question.is_protected:
                continue
            tied = {block[name] for name in self.parents_of(question)}
            own = min(tied, default=len(block))
            block = {name: own if old in tied else old for name, old in block.items()}
            block[question.name] = own
        numbers = {old: new for new, old in enumerate(dict.fromkeys(block.values()))}
        return {name: numbers[old] for name, old in block.items()}

    @property
    def block_count(self) -> int:
        return len(set(self.blocks.values()))

    @cached_property
    def _question_of(self) -> dict[str, ManifestQuestion]:
        """By the names that rules use: of questions, and of items of "select several"."""
        return {q.name: q for q in self.questions} | {
            f"{q.name}_{option.code}": q
            for q in self.questions
            if q.type == "several"
            for option in q.options
        }

    def parents_of(self, question: ManifestQuestion) -> tuple[str, ...]:
        """Protected questions that decide whether this one is asked."""
        if question.rule is None:
            return ()
        named = (self._question_of[leaf["name"]] for leaf in leaves(question.rule))
        return tuple(dict.fromkeys(parent.name for parent in named if parent.is_protected))

    @cached_property
    def ledger(self) -> tuple[Entry, ...]:
        return tuple(
            Entry(name=question.name, epsilon=question.epsilon, parents=self.parents_of(question))
            for question in self.questions
            if question.is_protected
        )

    @property
    def epsilon(self) -> float:
        """Basic sum over all that one person can be asked, in nats, rounded up: the headline.

        Who may toss coins instead of letting the browser draw can choose the dearer way.
        """
        return max(self.drawn_epsilon, self.coin_epsilon)

    @property
    def drawn_epsilon(self) -> float:
        """The same of what this manifest's own questions tell."""
        return basic_epsilon(self.ledger, drawn=self.drawn) if self.ledger else 0.0

    @cached_property
    def coin_questions(self) -> tuple[ManifestQuestion, ...]:
        """What is asked of those who toss two coins: Yes or No and nothing beside, all of it."""
        mechanism = RandomizedResponse.from_flips(symbols=2, flips=TWO_COINS)
        return tuple(
            replace(question, flips=TWO_COINS, threshold=mechanism.threshold)
            for question in self.questions
            if self.coins and question.type == "yes_no" and question.k == 2
        )

    @property
    def coin_epsilon(self) -> float:
        """What one person tells who tosses coins for all of these questions."""
        coins = [Entry(name=one.name, epsilon=one.epsilon) for one in self.coin_questions]
        return basic_epsilon(coins) if coins else 0.0

    def coin_epsilon_of(self, question: ManifestQuestion) -> float:
        """What one question tells of those who toss coins; 0 if it is not asked that way."""
        return next((one.epsilon for one in self.coin_questions if one.name == question.name), 0.0)

    def statement_epsilon(self, question: ManifestQuestion) -> float:
        """What all codes together tell about one question: its own and its dependants'."""
        return statement_epsilon(self.ledger, question.name)


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse_moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


# --- bytes ---------------------------------------------------------------------------------------
_OPTIONAL = (
    "refusal",
    "rule",
    "minimum",
    "maximum",
    "unit",
    "low_label",
    "high_label",
    "limit",
    "gate_threshold",
    "follow_up",
)


def serialize_manifest(manifest: Manifest) -> bytes:
    """Write the canonical bytes; the caller stores them and never calls this again."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "survey": manifest.survey,
        "wave": manifest.wave,
        "title": manifest.title,
        "introduction": manifest.introduction,
        "language": manifest.language,
        "minimum_batch": manifest.minimum_batch,
        "display_minimum": manifest.display_minimum,
        "opens": _format_moment(manifest.opens),
        "closes": _format_moment(manifest.closes),
        "cap": manifest.cap,
        "questions": [_describe_question(question) for question in manifest.questions],
    }
    if manifest.drawn is not None:
        content["drawn"] = manifest.drawn
    if manifest.closing_message:
        content["closing_message"] = manifest.closing_message
    if manifest.quick_exit:
        content["quick_exit"] = True
    if manifest.coins:
        content["coins"] = True
    if manifest.mode != ELECTRONIC:
        content["mode"] = manifest.mode
    if manifest.translations:
        content["translations"] = manifest.translations
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def _describe_question(question: ManifestQuestion) -> dict[str, Any]:
    content: dict[str, Any] = {"name": question.name, "type": question.type, "text": question.text}
    if question.type != "information":
        content["options"] = [{"code": o.code, "text": o.text} for o in question.options]
        content["k"] = question.k
    if question.is_protected:
        content |= {"flips": question.flips, "threshold": question.threshold}
    for key in _OPTIONAL:
        value = getattr(question, key)
        if value is not None and value is not False and value != "":
            content[key] = value
    return content


def hash_manifest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(maxsize=256)
def parse_manifest(content: bytes) -> Manifest:
    """Read stored bytes; cached, because the same bytes always mean the same survey."""
    raw = json.loads(content)
    if raw["format"] != FORMAT:
        raise ValueError(f"manifest format must be {FORMAT}, got {raw['format']!r}")
    return Manifest(
        survey=raw["survey"],
        wave=raw["wave"],
        title=raw["title"],
        introduction=raw["introduction"],
        language=raw["language"],
        minimum_batch=raw["minimum_batch"],
        display_minimum=raw["display_minimum"],
        opens=_parse_moment(raw["opens"]),
        closes=_parse_moment(raw["closes"]),
        cap=raw["cap"],
        drawn=raw.get("drawn"),
        closing_message=raw.get("closing_message", ""),
        quick_exit=raw.get("quick_exit", False),
        coins=raw.get("coins", False),
        mode=raw.get("mode", ELECTRONIC),
        translations=raw.get("translations", {}),
        questions=tuple(map(_parse_question, raw["questions"])),
    )


def _parse_question(raw: dict[str, Any]) -> ManifestQuestion:
    return ManifestQuestion(
        name=raw["name"],
        type=raw["type"],
        text=raw["text"],
        flips=raw.get("flips", 0),
        threshold=raw.get("threshold"),
        options=tuple(Option(code=o["code"], text=o["text"]) for o in raw.get("options", ())),
        **{key: raw[key] for key in _OPTIONAL if key in raw},
    )


def with_strength(question: ManifestQuestion, *, flips: int) -> ManifestQuestion:
    """The thresholds that the strength means for the question's numbers of codes."""
    if not question.is_protected:
        return question

    def threshold(symbols: int) -> int:
        return RandomizedResponse.from_flips(symbols=symbols, flips=flips).threshold

    return replace(
        question,
        flips=flips,
        threshold=threshold(question.k),
        gate_threshold=threshold(question.gate_k) if question.has_gate else None,
    )
