"""Says what scrambling means for a person, in questions and answers before the first page.

The lines state the worst case of any scrambled question, or of all codes together. The lines name
the questions in this worst case, unless it includes all questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import SMALLEST_USUAL_BATCH, Limit, Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import HARDLY, LIGHT
from surveys.respondent.label.guesses import is_practically_certain
from surveys.respondent.label.names import name_questions, scrambled, sent_as_answered, write_whole
from surveys.respondent.label.odds import picture_least, word_of
from surveys.respondent.label.parts import Consequence, Level, Picture
from surveys.respondent.label.publication import describe_anyone
from surveys.respondent.label.readable import are_read_alone, describe_readable
from surveys.respondent.label.remaining import describe_website


@dataclass(frozen=True, kw_only=True)
class _Worst:
    """The most that a reader of the codes can know."""

    level: Level
    questions: tuple[ManifestQuestion, ...] = ()  # empty if only all codes together reveal as much


def describe_lead(manifest: Manifest) -> str:
    if manifest.mode == Mode.MANUAL:
        return _("Two coins scramble your answers before sending.")
    if scrambled(manifest) and are_read_alone(manifest, scrambled(manifest)):
        return _("This device changes few of your answers before sending.")
    if _find_worst(manifest).level == Level.MOSTLY:
        return ""  # a sentence would sound reassuring
    return _("This device scrambles your answers before sending.")


def describe_consequences(manifest: Manifest) -> tuple[Consequence, ...]:
    """Say what the researchers can see, what can be proved, and what others see."""
    worst = _find_worst(manifest)
    opened = _("Can others see that this device opened this page?")
    return (
        _describe_sight(manifest, worst),
        _describe_proof(manifest, worst),
        replace(_answer(opened, Level.YES), of_page=True),
        *_describe_anyone(manifest),
    )


def _find_worst(manifest: Manifest) -> _Worst:
    for word, level in ((HARDLY, Level.MOSTLY), (LIGHT, Level.PARTLY)):
        found = tuple(one for one in scrambled(manifest) if word_of(manifest, one) == word)
        if found:
            return _Worst(level=level, questions=found)
    return _Worst(level=Level.PARTLY if is_practically_certain(manifest) else Level.NO)


def _write_answer(level: Level) -> str:
    return {
        Level.NO: _("No."),
        Level.PARTLY: _("Partly."),
        Level.MOSTLY: _("Mostly yes."),
        Level.YES: _("Yes."),
    }[level]


def _describe_sight(manifest: Manifest, worst: _Worst) -> Consequence:
    """Say whether the researchers, or others who get the codes, can see the answers."""
    if worst.level == Level.NO:
        question = _("Can the researchers see my answers?")
        more = [_("Hackers or courts with the database cannot either.")]
    else:
        question = _("Can researchers, hackers or courts see my answers?")
        more = list(_list_seen(worst))
    seen = _answer(question, worst.level, *more)
    if 0 < len(worst.questions) < len(scrambled(manifest)):
        seen = replace(seen, answer=_name_worst(manifest, worst))
    return replace(seen, exception=describe_unscrambled(manifest))


def _list_seen(worst: _Worst) -> Iterator[str]:
    if not worst.questions:
        yield _("They could learn a lot from all your codes together.")
    elif worst.level == Level.PARTLY:
        yield _("They could make a fair guess.")


def _name_worst(manifest: Manifest, worst: _Worst) -> str:
    """Write the answer with the names of the questions in the worst case."""
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    partly, mostly = _("Partly: %(name)s."), _("Mostly yes: %(name)s.")
    answer = partly if worst.level == Level.PARTLY else mostly
    return answer % {"name": name_questions(manifest, worst.questions)}


def _describe_proof(manifest: Manifest, worst: _Worst) -> Consequence:
    """Say whether anyone can prove an answer, or how well they can guess it."""
    question = _("Can anyone prove my answer?")
    if worst.questions:
        return _answer(question, worst.level, describe_readable(manifest, worst.questions))
    if worst.level == Level.NO:
        return _answer(question, worst.level)
    return _answer(question, worst.level, _("Someone could make a good guess."))


def draw_picture(manifest: Manifest) -> Picture | None:
    """Show how many people send the same code.

    Return None if several codes together reveal more than a single code.
    """
    worst = _find_worst(manifest)
    if not scrambled(manifest):  # a draft that cannot be launched yet
        return None
    if not worst.questions:
        return picture_least(scrambled(manifest), are_read=False)
    if are_read_alone(manifest, worst.questions):
        return picture_least(worst.questions, are_read=True)
    return None


def _describe_anyone(manifest: Manifest) -> tuple[Consequence, ...]:
    """Describe the published results, or return nothing if the researchers decide who sees them."""
    published = describe_anyone(manifest)
    return (_answer(_("Can anyone see the results?"), Level.YES, published),) if published else ()


def _answer(question: str, level: Level, *sentences: str) -> Consequence:
    answer = _write_answer(level)
    return Consequence(question=question, level=level, answer=answer, sentences=sentences)


def describe_unscrambled(manifest: Manifest) -> str:
    """Name the questions whose answers are sent as they are, or return "" if there are none."""
    plain = sent_as_answered(manifest)
    if not plain:
        return ""
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    return _("Sent as it is: %(name)s.") % {"name": name_questions(manifest, plain)}


def describe_warnings(manifest: Manifest, *, asked_elsewhere: int = 0) -> tuple[Consequence, ...]:
    """Say what people should know before anything else, one thing at a time.

    If a code reveals much, the first warning is about the website. `asked_elsewhere` is how many
    other surveys of the author share a question with this one today. The number is used only if it
    is larger than at the launch.
    """
    said = [_warn(*sentences) for sentences in _list_warnings(manifest, asked_elsewhere)]
    if _find_worst(manifest).level != Level.NO:
        said.insert(0, replace(_warn(describe_website()), of_page=True))
    return tuple(said)


def _warn(*sentences: str) -> Consequence:
    return Consequence(question="", level=Level.BUT, answer="", sentences=sentences)


def _list_warnings(manifest: Manifest, asked_elsewhere: int) -> Iterator[tuple[str, ...]]:
    if manifest.minimum_batch < SMALLEST_USUAL_BATCH:
        others = manifest.minimum_batch - 1
        hides = ngettext(
            "Your code hides among only %(count)s other, fewer than Murmur advises.",
            "Your code hides among only %(count)s others, fewer than Murmur advises.",
            others,
        )
        yield hides % {"count": write_whole(others)}, _("They could be made up.")
    if Limit.CAP in manifest.exceeded_limits:
        cap = manifest.cap or 0
        ends = ngettext(
            "This survey ends after only %(count)s person, too few for exact results.",
            "This survey ends after only %(count)s people, too few for exact results.",
            cap,
        )
        yield (ends % {"count": write_whole(cap)},)
    most = max(manifest.asked_elsewhere, asked_elsewhere)
    if most:
        yield (_describe_elsewhere(most),)


def _describe_elsewhere(surveys: int) -> str:
    asked = ngettext(
        "The same question is asked in %(count)s other survey by this author. "
        "Answering both reveals more about you.",
        "The same questions are asked in %(count)s other surveys by this author. "
        "Answering several of these surveys reveals more about you.",
        surveys,
    )
    return asked % {"count": write_whole(surveys)}
