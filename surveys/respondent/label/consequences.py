"""What scrambling means for a person: a few lines before the first question, the answer first.

The lines speak of most of the scrambled questions. Those that are protected less are named, and
so are those that are sent as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import SMALLEST_USUAL_BATCH, Limit, Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import is_weak
from surveys.respondent.label.guesses import is_practically_certain
from surveys.respondent.label.names import name_questions, scrambled, sent_as_answered, write_whole
from surveys.respondent.label.odds import describe_least, word_of
from surveys.respondent.label.parts import Consequence, Level
from surveys.respondent.label.publication import describe_anyone
from surveys.respondent.label.readable import describe_guess, describe_readable, list_readable


@dataclass(frozen=True)
class _Sorted:
    """The scrambled questions by how much a reader of the codes knows."""

    hidden: tuple[ManifestQuestion, ...]
    light: tuple[ManifestQuestion, ...]  # a fair guess
    readable: tuple[ManifestQuestion, ...]  # mostly known

    @property
    def level(self) -> Level:
        """The level of the lines: what at least half of the questions come to is said of all."""
        total = len(self.hidden) + len(self.light) + len(self.readable)
        if total and 2 * len(self.readable) >= total:
            return Level.MOSTLY
        if total and 2 * (len(self.readable) + len(self.light)) >= total:
            return Level.PARTLY
        return Level.NO


def describe_lead(manifest: Manifest) -> str:
    if manifest.mode == Mode.MANUAL:
        return _("Two coins scramble your answers before sending.")
    return _("This device scrambles your answers before sending.")


def describe_consequences(
    manifest: Manifest, *, asked_elsewhere: int = 0
) -> tuple[Consequence, ...]:
    """Say what others can know.

    `asked_elsewhere` is how many other surveys of the author share a question with this one
    today; fewer than at the launch change nothing.
    """
    asked = _sort(manifest)
    exceptions = (
        *_name_exceptions(manifest, asked),
        *_describe_warnings(manifest, asked_elsewhere=asked_elsewhere),
    )
    but = Consequence(level=Level.BUT, answer=_("But"), sentences=exceptions)
    return (
        *_describe_sight(asked.level),
        _describe_proof(manifest, asked),
        _describe_opening(manifest),
        *_describe_anyone(manifest),
        *((but,) if exceptions else ()),
    )


def _sort(manifest: Manifest) -> _Sorted:
    questions, readable = scrambled(manifest), list_readable(manifest)
    others = [question for question in questions if question not in readable]
    light = [question for question in others if is_weak(word_of(manifest, question))]
    hidden = tuple(question for question in others if question not in light)
    return _Sorted(hidden, tuple(light), tuple(readable))


def _write_answer(level: Level) -> str:
    return {
        Level.NO: _("No."),
        Level.PARTLY: _("Partly."),
        Level.MOSTLY: _("Mostly yes."),
        Level.YES: _("Yes."),
    }[level]


def _describe_sight(level: Level) -> tuple[Consequence, ...]:
    """Say whether the researchers, or others who get the codes, can see the answers."""
    said = {
        Level.NO: (
            _("The researchers cannot see your answers."),
            _("Hackers or courts with the database cannot either."),
        ),
        Level.PARTLY: (
            _("The researchers could make a fair guess."),
            _("Hackers or courts with the database could too."),
        ),
        Level.MOSTLY: (
            _("The researchers can mostly read your answers."),
            _("Hackers or courts with the database could too."),
        ),
    }
    return tuple(_answer(level, sentence) for sentence in said[level])


def _describe_proof(manifest: Manifest, asked: _Sorted) -> Consequence:
    """Say whether anyone can prove an answer."""
    if asked.level == Level.MOSTLY:
        sentence, counted = describe_readable(manifest, asked.readable)
        return _answer(Level.MOSTLY, sentence, counted=counted)
    if asked.level == Level.PARTLY:
        if is_practically_certain(manifest):
            return _answer(Level.PARTLY, describe_guess(manifest.drawn_epsilon))
        return _answer(Level.PARTLY, _("Your codes together allow a fair guess, not a proof."))
    if not asked.hidden:
        return _answer(Level.NO, _("Nobody can prove what you answered."))
    sentence, counted = describe_least(asked.hidden)
    if not is_practically_certain(manifest):
        denial = _("Nobody can prove what you answered.")
        return _answer(Level.NO, denial, sentence, counted=counted)
    more = _("Your codes together tell more.")
    return _answer(Level.PARTLY, sentence, more, counted=counted)


def _describe_opening(manifest: Manifest) -> Consequence:
    said = (
        _("Others can see how long this page was open.")
        if _tells_much(manifest)
        else _("Others can see that this device opened this page.")
    )
    return replace(_answer(Level.YES, said), of_page=True)


def _describe_anyone(manifest: Manifest) -> tuple[Consequence, ...]:
    """Say what is published; nothing where the researchers decide."""
    published = describe_anyone(manifest)
    return (_answer(Level.YES, published),) if published else ()


def _answer(level: Level, *sentences: str, counted: int = 0) -> Consequence:
    return Consequence(
        level=level, answer=_write_answer(level), sentences=sentences, counted=counted
    )


def _name_exceptions(manifest: Manifest, asked: _Sorted) -> tuple[str, ...]:
    """Name the questions to which the lines do not apply."""
    named = [describe_unscrambled(manifest)]
    if asked.readable and asked.level != Level.MOSTLY:
        name = {"name": name_questions(manifest, asked.readable)}
        named.append(_("Mostly readable: %(name)s.") % name)
    if asked.light and asked.level == Level.NO:
        name = {"name": name_questions(manifest, asked.light)}
        named.append(_("Partly readable: %(name)s.") % name)
    return tuple(filter(None, named))


def describe_unscrambled(manifest: Manifest) -> str:
    """Name the questions whose answers are sent as they are; "" if there are none."""
    plain = sent_as_answered(manifest)
    if not plain:
        return ""
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    return _("Sent as it is: %(name)s.") % {"name": name_questions(manifest, plain)}


def _tells_much(manifest: Manifest) -> bool:
    """Whether people should know before anything else what made-up codes can do."""
    limits = {Limit.MINIMUM_BATCH, Limit.TOTAL_EPSILON}
    return bool(limits.intersection(manifest.exceeded_limits))


def _describe_warnings(manifest: Manifest, *, asked_elsewhere: int) -> tuple[str, ...]:
    """Say what people should know before anything else; nothing about most surveys."""
    said = []
    if _tells_much(manifest):
        others = manifest.minimum_batch - 1
        if manifest.minimum_batch < SMALLEST_USUAL_BATCH:
            hides = ngettext(
                "Your code hides among only %(count)s other, fewer than Murmur advises.",
                "Your code hides among only %(count)s others, fewer than Murmur advises.",
                others,
            )
        else:
            hides = ngettext(
                "Your code hides among %(count)s other.",
                "Your code hides among %(count)s others.",
                others,
            )
        said.append(hides % {"count": write_whole(others)})
        said.append(_("They could be made up."))
    if Limit.CAP in manifest.exceeded_limits:
        cap = manifest.cap or 0
        ends = ngettext(
            "This survey ends after only %(count)s person, too few for exact results.",
            "This survey ends after only %(count)s people, too few for exact results.",
            cap,
        )
        said.append(ends % {"count": write_whole(cap)})
    most = max(manifest.asked_elsewhere, asked_elsewhere)
    if most:
        said.append(_describe_elsewhere(most))
    return tuple(said)


def _describe_elsewhere(surveys: int) -> str:
    asked = ngettext(
        "The same question is asked in %(count)s other survey by this author. "
        "Answering both tells more.",
        "The same questions are asked in %(count)s other surveys by this author. "
        "Answering several tells more.",
        surveys,
    )
    return asked % {"count": write_whole(surveys)}
