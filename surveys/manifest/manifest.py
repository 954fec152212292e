"""The frozen description of a launched survey, as an object. serialization.py writes its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from functools import cached_property

from django.db.models import TextChoices

from privacy.mechanism.accounting import (
    Entry,
    basic_epsilon,
    find_telling,
    pick_largest,
    statement_epsilons,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.budgets import question_fraction
from surveys.links import link_contact, link_phone
from surveys.manifest.modes import Mode
from surveys.manifest.names import number_questions, rename_in_files
from surveys.manifest.paths import PathLengths, measure_paths
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseRequest
from surveys.manifest.rules import leaves
from surveys.manifest.strength import LARGEST_UNCONFIRMED_EPSILON, TWO_COINS

# The byte in a report for a question that was not drawn for the person. On the wire, it is "~".
NOT_DRAWN = 255
# More symbols would not fit into the largest report that the intake reads
# (aggregator/intake/wire.py).
MOST_SYMBOLS = 3963
# The metadata key of translated fields. Its value is the name that authors see for the field.
TRANSLATED = "translated"
# Authors must acknowledge a smaller minimum batch K at the launch.
SMALLEST_USUAL_BATCH = 50
BATCHES_FOR_HALVES = 20  # fewer batches cannot be split at random into halves
BATCHES_IN_CROWD = 3  # the crowd C is at least this many times K
UNKNOWN_PEOPLE = 1000  # used if the author gives no number; a cap is often far too high
# Limits for protected publication: ε in hundredths and δ in units of 10⁻⁹, so that sums are exact.
HUNDREDTHS, NANOS = 100, 10**9
LEAST_RELEASE_EPSILON, MOST_RELEASE_EPSILON, USUAL_RELEASE_EPSILON = 10, 300, 100
MOST_RELEASE_DELTA = USUAL_RELEASE_DELTA = 1_000


def find_crowd(*, minimum_batch: int, display_minimum: int) -> int:
    """Return C, the least number of reports that an exact figure or a row of a file may describe.

    Someone who sent all but one of these reports can infer the remaining report. Singling out one
    person therefore takes C - 1 made-up reports (decision 55).
    """
    return max(BATCHES_IN_CROWD * minimum_batch, display_minimum)


def largest_release_delta(people: int) -> int:
    """Return the largest δ for this many people, 1 / (10 · people), rounded down to whole 10⁻⁹."""
    return NANOS // (10 * people)


class Limit(StrEnum):
    """A limit that a survey may exceed if its author acknowledges it. Manifests store its value."""

    CAP = "cap"
    MINIMUM_BATCH = "minimum_batch"
    TOTAL_EPSILON = "total_epsilon"


class Publication(TextChoices):
    """The results that anyone may read. Respondents learn this before they answer."""

    NONE = "none", "Nothing"
    EXACT = "exact", "The results, after the survey has closed"
    PROTECTED = "protected", "Protected figures, after the survey has closed"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    survey: str
    wave: int
    # Fields with metadata are translated, and are in the order in which respondents read them.
    title: str = field(metadata={TRANSLATED: "Title"})
    organization: str = field(default="", metadata={TRANSLATED: "Organization"})
    contact: str = field(default="", metadata={TRANSLATED: "Contact"})
    introduction: str = field(metadata={TRANSLATED: "Introduction"})
    consent: str = field(default="", metadata={TRANSLATED: "What people agree to"})
    questions: tuple[ManifestQuestion, ...]
    closing_message: str = field(default="", metadata={TRANSLATED: "Closing message"})
    help_name: str = field(default="", metadata={TRANSLATED: "Who helps"})
    language: str
    minimum_batch: int
    display_minimum: int
    opens: datetime | None
    closes: datetime | None
    cap: int | None
    # How many people the author expects to answer, or None if the author did not say.
    people_expected: int | None = None
    # Unused since decision 59. The field is kept so that older manifests are still serialized to
    # the same bytes.
    concentration: int | None = None
    # How many blocks of questions each person is asked, or None for all blocks.
    drawn: int | None = None
    notice_url: str = ""
    approval: str = ""
    # The day on which everything is deleted, at 00:00 UTC at the earliest.
    delete_on: date | None = None
    help_phone: str = ""
    help_url: str = ""
    minimum_age: int | None = None
    # Whether several people answer on one device, in which case the browser must keep no trace.
    shared_devices: bool = False
    quick_exit: bool = False
    # Whether pages wait for Continue after an answer instead of going on after one tap.
    confirm_answers: bool = False
    # None in manifests that are older than this key. Such surveys publish nothing.
    publication: Publication | None = None
    # Limits on what all releases together may reveal about one person, or None unless publication
    # is protected.
    release_epsilon_hundredths: int | None = None
    release_delta_nanos: int | None = None
    # Whether yes/no questions may also be answered with two coins, in a separate wave.
    coins: bool = False
    mode: Mode = Mode.ELECTRONIC
    # The limits that the survey exceeds and that its author acknowledged, sorted.
    acknowledged: tuple[str, ...] = ()
    # How many of the author's other surveys, including deleted ones, shared a question with this
    # one at the launch. Manifests that are older than this key have 0.
    asked_elsewhere: int = 0
    # Comparisons planned before the survey opened. Each names indicators and factors, with the
    # outcome first (surveys.comparing.indicators).
    planned_comparisons: tuple[tuple[str, ...], ...] = ()
    # Releases planned before the survey opened, and drawn at the close in any case. None if
    # publication is not protected or the manifest is older than this key.
    planned_releases: tuple[ReleaseRequest, ...] | None = None
    # Whether a random half of the batches stays sealed after the close, until claims are tested.
    sealed_half: bool = False
    # The SHA-256 hash of the words in each further language, in base64url.
    translations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = number_questions(question.is_answered for question in self.questions)
        numbered = (
            question if question.number == number else replace(question, number=number)
            for number, question in zip(numbers, self.questions, strict=True)
        )
        object.__setattr__(self, "questions", tuple(numbered))
        self._check_releases()

    def _check_releases(self) -> None:
        """Require both limits, each within its range, for protected publication, else neither."""
        limits = {
            "release_epsilon_hundredths": (LEAST_RELEASE_EPSILON, MOST_RELEASE_EPSILON),
            "release_delta_nanos": (0, MOST_RELEASE_DELTA),
        }
        for name, (least, most) in limits.items():
            value: int | None = getattr(self, name)
            if (value is not None) != self.publishes_releases:
                raise ValueError(f"{name} belongs to protected surveys, got {value!r}")
            if value is not None and not (type(value) is int and least <= value <= most):
                raise ValueError(f"{name} must lie in [{least}, {most}], got {value!r}")
        if self.planned_releases is not None and not self.publishes_releases:
            raise ValueError("planned_releases belongs to protected surveys")

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols of every report, in the order in which they are sent."""
        blocks = self.blocks
        return tuple(
            symbol
            for question in self.questions
            for symbol in question.symbols(block=blocks.get(question.name))
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that respondents can choose, with the author's language first."""
        return (self.language, *self.translations)

    @property
    def asks_consent(self) -> bool:
        """Whether a page before the first question asks people to agree or to confirm their age."""
        return bool(self.consent or self.minimum_age)

    @property
    def contact_link(self) -> str:
        """A link to the contact, or "" if the contact is not just an address or a number."""
        return link_contact(self.contact)

    @property
    def help_phone_link(self) -> str:
        return link_phone(self.help_phone)

    @property
    def has_public_results(self) -> bool:
        """Whether anyone may read anything about the results after the close."""
        return self.publishes_exact or self.publishes_releases

    @property
    def publishes_exact(self) -> bool:
        """Whether anyone may read the estimates themselves after the close."""
        return self.publication == Publication.EXACT

    @property
    def publishes_releases(self) -> bool:
        """Whether anyone may read releases, and nothing exact, after the close."""
        return self.publication == Publication.PROTECTED

    @property
    def has_fixed_end(self) -> bool:
        """Whether the survey ends at a date or number of people that was fixed before it opened."""
        return self.closes is not None or self.cap is not None

    @property
    def is_watched(self) -> bool:
        """Whether results are shown while the survey is open and its end is not fixed.

        With a random subset, no results are shown before the close.
        """
        return not self.has_fixed_end and self.drawn is None

    @property
    def people_planned(self) -> int | None:
        """The number of people to plan for, which is the number expected, or else the cap."""
        return self.people_expected or self.cap

    @property
    def people_for_looks(self) -> int:
        """The number of people at which the intervals of looks are narrowest.

        These intervals are valid for any number of people.
        """
        return self.people_expected or UNKNOWN_PEOPLE

    @property
    def asked_fraction(self) -> float:
        """The fraction of people who get a given block of questions."""
        if self.drawn is None:
            return 1.0
        return question_fraction(drawn=self.drawn, questions=self.block_count)

    def find_asked_fraction(self, name: str) -> float:
        """Return the fraction of people who get this question, without regard to rules."""
        return self.asked_fraction if name in self.blocks else 1.0

    @cached_property
    def blocks(self) -> dict[str, int]:
        """The block of every scrambled question. Questions that rules connect share a block."""
        block: dict[str, int] = {}
        for question in self.questions:
            if not question.is_scrambled:
                continue
            tied = {block[name] for name in self.parents_of(question)}
            own = min(tied, default=len(block))
            block = {name: own if old in tied else old for name, old in block.items()}
            block[question.name] = own
        numbers = {old: new for new, old in enumerate(dict.fromkeys(block.values()))}
        return {name: numbers[old] for name, old in block.items()}

    def pick_drawn(self, values: Mapping[str, float]) -> list[float]:
        """Return the values, with the largest possible sum, of questions that one person can get.

        Questions without a value count as zero.
        """
        blocks: dict[int, list[str]] = {}
        for name, block in self.blocks.items():
            blocks.setdefault(block, []).append(name)
        of_everyone = [value for name, value in values.items() if name not in self.blocks]
        return [*of_everyone, *pick_largest(values, blocks.values(), self.drawn)]

    @property
    def block_count(self) -> int:
        return len(set(self.blocks.values()))

    @cached_property
    def _question_of(self) -> dict[str, ManifestQuestion]:
        """Map the names that rules use for questions and items to the questions."""
        return {
            name: question
            for question in self.questions
            for name in (question.name, *question.answer_names)
        }

    def parents_of(self, question: ManifestQuestion) -> tuple[str, ...]:
        """List the scrambled questions that this question's rule refers to.

        A second code of a scale also depends on the scale, because no one is asked for one of the
        two without the other.
        """
        named = [self._question_of[leaf["name"]] for leaf in leaves(question.rule or {})]
        if question.is_second:
            named.append(self._question_of[question.scale])
        return tuple(dict.fromkeys(parent.name for parent in named if parent.is_scrambled))

    def deciders_of(self, question: ManifestQuestion) -> frozenset[str]:
        """Name all questions that decide, directly or through others, whether this one is asked."""
        named = (self._question_of[leaf["name"]] for leaf in leaves(question.rule or {}))
        return frozenset[str]().union(
            *({decider.name} | self.deciders_of(decider) for decider in named)
        )

    def is_for_everyone(self, question: ManifestQuestion) -> bool:
        """Return whether a question's figures describe no declared group, so anyone may see them.

        If a declared question decides whether this one is asked, the figures describe exactly the
        people in a declared group.
        """
        unscrambled = {one.name for one in self.questions if one.is_declared}
        return unscrambled.isdisjoint({question.name} | self.deciders_of(question))

    def name_in_files(self, name: str) -> str:
        """Replace the question in the name of a question, symbol or indicator with its variable."""
        return rename_in_files(name, {one.name: one.var for one in self.questions})

    @cached_property
    def facts(self) -> dict[str, str]:
        """The first question about the same fact as each question, usually the question itself."""
        first: dict[str, str] = {}
        for question in self.questions:
            first[question.name] = first.get(question.same_fact, question.name)
        return first

    def list_same_fact(self, question: ManifestQuestion) -> tuple[ManifestQuestion, ...]:
        """List the other questions that ask for the same fact."""
        return tuple(
            other
            for other in self.questions
            if other.name != question.name and self.facts[other.name] == self.facts[question.name]
        )

    def telling(self, question: ManifestQuestion) -> tuple[ManifestQuestion, ...]:
        """List the questions whose codes reveal something about the answer to this question.

        These are the question itself and all questions that depend on it by a rule or ask for the
        same fact, directly or through others.
        """
        names = self._telling.get(question.name) or frozenset({question.name}).union(
            *(
                self._telling[one.name]
                for one in self.questions
                if one.is_scrambled and question.name in self.deciders_of(one)
            )
        )
        return tuple(one for one in self.questions if one.name in names)

    @cached_property
    def _telling(self) -> dict[str, frozenset[str]]:
        return find_telling(self.ledger) if self.ledger else {}

    def is_told_by_others(
        self, question: ManifestQuestion, *, apart_from: ManifestQuestion | None = None
    ) -> bool:
        """Return whether codes of other questions can also reveal something about this answer."""
        return any(
            self.drawn != 1 or self.blocks[one.name] == self.blocks[question.name]
            for one in self.telling(question)
            if one.name != question.name and one != apart_from
        )

    @cached_property
    def ledger(self) -> tuple[Entry, ...]:
        return tuple(
            Entry(
                name=question.name,
                epsilon=question.epsilon,
                parents=self.parents_of(question),
                same_fact="" if fact == question.name else fact,
            )
            for question in self.questions
            for fact in (self.facts[question.name],)
            if question.is_scrambled
        )

    @cached_property
    def crowd(self) -> int:
        """C, the least number of reports that an exact figure or a row of a file may describe."""
        return find_crowd(minimum_batch=self.minimum_batch, display_minimum=self.display_minimum)

    @cached_property
    def exceeded_limits(self) -> tuple[str, ...]:
        """The limits that an author must acknowledge at the launch, sorted."""
        exceeded = {
            Limit.CAP: self.cap is not None and self.cap < self.crowd,
            Limit.MINIMUM_BATCH: self.minimum_batch < SMALLEST_USUAL_BATCH,
            Limit.TOTAL_EPSILON: self.epsilon > LARGEST_UNCONFIRMED_EPSILON,
        }
        return tuple(sorted(limit.value for limit, is_exceeded in exceeded.items() if is_exceeded))

    @cached_property
    def paths(self) -> PathLengths:
        """The fewest and the most pages that people can see, including information texts."""
        return measure_paths(self.questions, blocks=self.blocks, drawn=self.drawn)

    @property
    def epsilon(self) -> float:
        """The total ε: the sum over all questions that one person can get, in nats, rounded up.

        If people can also toss coins, the larger of the two totals counts.
        """
        return max(self.drawn_epsilon, self.coin_epsilon)

    @property
    def drawn_epsilon(self) -> float:
        """The total ε for answers in this manifest's own mode."""
        return basic_epsilon(self.ledger, drawn=self.drawn) if self.ledger else 0.0

    @cached_property
    def coin_questions(self) -> tuple[ManifestQuestion, ...]:
        """The questions for people who toss two coins, who answer each of them with Yes or No."""
        mechanism = RandomizedResponse.from_flips(symbols=2, flips=TWO_COINS)
        asked = [one for one in self.questions if self.coins and one.is_answered_yes_or_no]
        # The first question about a fact may not be among these, so find the first one that is.
        first: dict[str, str] = {}
        for one in asked:
            first.setdefault(self.facts[one.name], one.name)
        return tuple(
            replace(
                one,
                flips=TWO_COINS,
                threshold=mechanism.threshold,
                same_fact="" if found == one.name else found,
            )
            for one in asked
            for found in (first[self.facts[one.name]],)
        )

    @property
    def coin_epsilon(self) -> float:
        """The total ε of a person who tosses coins for all questions that allow it."""
        coins = [Entry(name=one.name, epsilon=one.epsilon) for one in self.coin_questions]
        return basic_epsilon(coins) if coins else 0.0

    def coin_epsilon_of(self, question: ManifestQuestion) -> float:
        """Return the ε of one question with coins, or 0 if the question is not asked with coins."""
        return next((one.epsilon for one in self.coin_questions if one.name == question.name), 0.0)

    def coin_statement_epsilon(self, question: ManifestQuestion) -> float:
        """Add up the ε with coins of all questions that ask for this fact. The sum may be 0."""
        fact = self.facts[question.name]
        entries = [
            Entry(name=one.name, epsilon=one.epsilon)
            for one in self.coin_questions
            if self.facts[one.name] == fact
        ]
        return basic_epsilon(entries) if entries else 0.0

    def statement_epsilon(self, question: ManifestQuestion) -> float:
        """Return the ε of all codes that reveal something about the fact this question asks for.

        These are the codes of the question, of questions that depend on it, and of all questions
        that ask for the same fact.
        """
        return self._statement_epsilons[question.name]

    @cached_property
    def _statement_epsilons(self) -> dict[str, float]:
        return statement_epsilons(self.ledger, drawn=self.drawn)
