"""What scrambling means for a person: a few lines before the first question, the answer first.

The lines say the worst that holds of any scrambled question, or of all codes together. They name
the questions of which it holds, if these are not all.
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
from surveys.respondent.label.remaining import describe_website


@dataclass(frozen=True, kw_only=True)
class _Worst:
    """The most that a reader of the codes knows."""

    level: Level
    questions: tuple[ManifestQuestion, ...] = ()  # none if only all codes together tell as much


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
    worst = _find_worst(manifest)
    warnings = _describe_warnings(manifest, asked_elsewhere=asked_elsewhere)
    but = Consequence(level=Level.BUT, answer=_("But"), sentences=warnings)
    return (
        *_describe_sight(manifest, worst),
        _describe_proof(manifest, worst),
        _describe_opening(worst.level),
        *_describe_anyone(manifest),
        *((but,) if warnings else ()),
    )


def _find_worst(manifest: Manifest) -> _Worst:
    readable = tuple(list_readable(manifest))
    if readable:
        return _Worst(level=Level.MOSTLY, questions=readable)
    light = tuple(one for one in scrambled(manifest) if is_weak(word_of(manifest, one)))
    if light or is_practically_certain(manifest):
        return _Worst(level=Level.PARTLY, questions=light)
    return _Worst(level=Level.NO)


def _write_answer(level: Level) -> str:
    return {
        Level.NO: _("No."),
        Level.PARTLY: _("Partly."),
        Level.MOSTLY: _("Mostly yes."),
        Level.YES: _("Yes."),
    }[level]


def _describe_sight(manifest: Manifest, worst: _Worst) -> tuple[Consequence, ...]:
    """Say whether the researchers, or others who get the codes, can see the answers."""
    seen = _answer(worst.level, _write_sight(manifest, worst))
    others = (
        _("Hackers or courts with the database cannot either.")
        if worst.level == Level.NO
        else _("Hackers or courts with the database could too.")
    )
    return replace(seen, exception=describe_unscrambled(manifest)), _answer(worst.level, others)


def _write_sight(manifest: Manifest, worst: _Worst) -> str:
    if worst.level == Level.NO:
        return _("The researchers cannot see your answers.")
    if not worst.questions:
        return _("The researchers could learn a lot from all your codes together.")
    are_all = len(worst.questions) == len(scrambled(manifest))
    if worst.level == Level.MOSTLY:
        all_ = _("The researchers can mostly read your answers.")
        some = _("The researchers can mostly read: %(name)s.")
    else:
        all_ = _("The researchers could make a fair guess at your answers.")
        some = _("The researchers could make a fair guess at: %(name)s.")
    return all_ if are_all else some % {"name": name_questions(manifest, worst.questions)}


def _describe_proof(manifest: Manifest, worst: _Worst) -> Consequence:
    """Say whether anyone can prove an answer, or how well it can be guessed."""
    if worst.level == Level.MOSTLY:
        sentence, counted = describe_readable(manifest, worst.questions)
        return _answer(worst.level, sentence, counted=counted)
    if worst.questions:
        return _answer(worst.level, describe_guess(manifest))
    claim = (
        _("Nobody can prove what you answered.")
        if worst.level == Level.NO
        else _("Someone could make a good guess at what you answered.")
    )
    questions = scrambled(manifest)
    if not questions:  # a draft that cannot be launched yet
        return _answer(worst.level, claim)
    odds, counted = describe_least(questions)
    return _answer(worst.level, claim, odds, counted=counted)


def _describe_opening(level: Level) -> Consequence:
    """Say what the network sees, and also what the website sees where a code tells much."""
    said = [_("Others can see that this device opened this page.")]
    if level != Level.NO:
        said.append(describe_website())
    return replace(_answer(Level.YES, *said), of_page=True)


def _describe_anyone(manifest: Manifest) -> tuple[Consequence, ...]:
    """Say what is published; nothing where the researchers decide."""
    published = describe_anyone(manifest)
    return (_answer(Level.YES, published),) if published else ()


def _answer(level: Level, *sentences: str, counted: int = 0) -> Consequence:
    return Consequence(
        level=level, answer=_write_answer(level), sentences=sentences, counted=counted
    )


def describe_unscrambled(manifest: Manifest) -> str:
    """Name the questions whose answers are sent as they are; "" if there are none."""
    plain = sent_as_answered(manifest)
    if not plain:
        return ""
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    return _("Sent as it is: %(name)s.") % {"name": name_questions(manifest, plain)}


def _describe_warnings(manifest: Manifest, *, asked_elsewhere: int) -> tuple[str, ...]:
    """Say what people should know before anything else; nothing about most surveys."""
    said = []
    if manifest.minimum_batch < SMALLEST_USUAL_BATCH:
        others = manifest.minimum_batch - 1
        hides = ngettext(
            "Your code hides among only %(count)s other, fewer than Murmur advises.",
            "Your code hides among only %(count)s others, fewer than Murmur advises.",
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
