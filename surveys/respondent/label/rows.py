"""The label's table: people's concerns, each with a plain answer."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import Manifest
from surveys.manifest.strength import is_weak
from surveys.respondent.label.guesses import is_practically_certain
from surveys.respondent.label.names import name_questions, scrambled, sent_as_answered, write_whole
from surveys.respondent.label.odds import describe_odds, word_of
from surveys.respondent.label.parts import Row
from surveys.respondent.label.precision import describe_finding
from surveys.respondent.label.readable import describe_readable, list_readable, name_readable


def describe_rows(manifest: Manifest) -> tuple[Row, ...]:
    several = len(scrambled(manifest)) > 1
    return (
        describe_sight(manifest),
        Row(
            question=(
                _("Could a hacker or a court get them from the database?")
                if several
                else _("Could a hacker or a court get it from the database?")
            ),
            answers=_describe_database(manifest),
        ),
        Row(
            question=_("Can anyone prove what I answered?"),
            answers=_describe_proof(manifest),
            odds=describe_odds(manifest),
        ),
        Row(question=_("What can they learn?"), answers=describe_finding(manifest)),
    )


def describe_sight(manifest: Manifest) -> Row:
    """Say whether the researchers can see the answers; authors read this row too."""
    if len(scrambled(manifest)) > 1:
        question = _("Can the researchers see my answers?")
    else:
        question = _("Can the researchers see my answer?")
    if _is_all_readable(manifest):
        answers: tuple[str, ...] = (_("Mostly, yes."),)
    else:
        light = _is_light(manifest)
        copy = _("They get a lightly scrambled copy.") if light else _("They get a scrambled copy.")
        answers = (_deny_sight(light=light, exceptions=_count_exceptions(manifest)), copy)
    exceptions = (*describe_readable(manifest), *_describe_declared(manifest))
    return Row(question=question, answers=(*answers, *exceptions))


def _describe_database(manifest: Manifest) -> tuple[str, ...]:
    if _is_all_readable(manifest):
        return (_("Mostly, yes."), *_describe_declared(manifest))
    light, exceptions = _is_light(manifest), _count_exceptions(manifest)
    return (
        _deny_sight(light=light, exceptions=exceptions),
        _describe_copies(light=light, exceptions=exceptions),
        *_name_exceptions(manifest),
    )


def _describe_proof(manifest: Manifest) -> tuple[str, ...]:
    if _is_all_readable(manifest):
        return (_("Mostly, yes."), *_describe_declared(manifest))
    light = _is_light(manifest) or is_practically_certain(manifest)
    denial = _deny_proof(light=light, exceptions=_count_exceptions(manifest))
    return (denial, *_name_exceptions(manifest))


def _is_all_readable(manifest: Manifest) -> bool:
    return 0 < len(scrambled(manifest)) == len(list_readable(manifest))


def _is_light(manifest: Manifest) -> bool:
    """Whether an answer that is no exception is protected lightly."""
    readable = list_readable(manifest)
    return any(
        is_weak(word_of(manifest, question))
        for question in scrambled(manifest)
        if question not in readable
    )


def _count_exceptions(manifest: Manifest) -> int:
    return len(sent_as_answered(manifest)) + len(list_readable(manifest))


def _name_exceptions(manifest: Manifest) -> tuple[str, ...]:
    return (*name_readable(manifest), *_describe_declared(manifest))


def _deny_sight(*, light: bool, exceptions: int) -> str:
    if not exceptions:
        return _("Not directly.") if light else _("No.")
    if light:
        answer = ngettext(
            "Not directly, with one exception.",
            "Not directly, with %(count)s exceptions.",
            exceptions,
        )
    else:
        answer = _no_but(exceptions)
    return answer % {"count": write_whole(exceptions)}


def _deny_proof(*, light: bool, exceptions: int) -> str:
    if not exceptions:
        return _("Not for certain.") if light else _("No.")
    if light:
        answer = ngettext(
            "Not for certain, with one exception.",
            "Not for certain, with %(count)s exceptions.",
            exceptions,
        )
    else:
        answer = _no_but(exceptions)
    return answer % {"count": write_whole(exceptions)}


def _no_but(exceptions: int) -> str:
    return ngettext("No, with one exception.", "No, with %(count)s exceptions.", exceptions)


def _describe_copies(*, light: bool, exceptions: int) -> str:
    if exceptions:
        if light:
            return _("The database holds lightly scrambled copies.")
        return _("The database holds scrambled copies.")
    if light:
        return _("The database holds only lightly scrambled copies.")
    return _("The database holds only scrambled copies.")


def _describe_declared(manifest: Manifest) -> tuple[str, ...]:
    plain = sent_as_answered(manifest)
    if not plain:
        return ()
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    readable = ngettext(
        "%(name)s can be read as it is.", "%(name)s can be read as they are.", len(plain)
    )
    return (readable % {"name": name_questions(manifest, plain)},)
