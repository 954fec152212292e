"""The label's table: people's concerns, each with a plain answer."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.strength import LIGHT
from surveys.respondent.label.names import name_questions, scrambled, sent_as_answered, write_whole
from surveys.respondent.label.odds import describe_odds, guess_from_one
from surveys.respondent.label.parts import Row
from surveys.respondent.label.precision import describe_finding


def describe_rows(manifest: Manifest) -> tuple[Row, ...]:
    several = len(scrambled(manifest)) > 1
    odds = describe_odds(manifest)
    light = any(one.strength == LIGHT for one in odds)
    plain = len(sent_as_answered(manifest))
    more = ((guess_from_one(),) if light else ()) + _describe_readable(manifest)
    return (
        Row(
            question=(
                _("Can the researchers see my answers?")
                if several
                else _("Can the researchers see my answer?")
            ),
            answers=(_deny_sight(light=light, exceptions=plain), _describe_copy(light), *more),
        ),
        Row(
            question=(
                _("Could a hacker or a court get them from the database?")
                if several
                else _("Could a hacker or a court get it from the database?")
            ),
            answers=(
                _deny_sight(light=light, exceptions=plain),
                _describe_database(light=light, exceptions=plain),
                *more,
            ),
        ),
        Row(
            question=_("Can anyone prove what I answered?"),
            answers=(_deny_proof(light=light, exceptions=plain), *more),
            odds=odds,
        ),
        Row(question=_("What can they learn?"), answers=describe_finding(manifest)),
        Row(question=_("What is not hidden?"), answers=_describe_what_shows(manifest)),
    )


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


def _describe_copy(light: bool) -> str:
    if light:
        return _("They get a lightly scrambled copy.")
    return _("They get a scrambled copy.")


def _describe_database(*, light: bool, exceptions: int) -> str:
    if exceptions:
        if light:
            return _("The database holds lightly scrambled copies.")
        return _("The database holds scrambled copies.")
    if light:
        return _("The database holds only lightly scrambled copies.")
    return _("The database holds only scrambled copies.")


def _describe_readable(manifest: Manifest) -> tuple[str, ...]:
    plain = sent_as_answered(manifest)
    if not plain:
        return ()
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    readable = ngettext(
        "%(name)s can be read as it is.", "%(name)s can be read as they are.", len(plain)
    )
    return (readable % {"name": name_questions(manifest, plain)},)


def _describe_what_shows(manifest: Manifest) -> tuple[str, ...]:
    drawn = (_("Which questions were drawn for you."),) if manifest.drawn is not None else ()
    language = (_("In which language you read it."),) if manifest.translations else ()
    by_hand = manifest.mode == Mode.MANUAL
    coins = (_("That you used coins."),) if by_hand else ()
    kept = (
        () if by_hand else (_("That this browser took part: it remembers that, but no answers."),)
    )
    return (
        _("That this phone or computer, with its network address, opened this page."),
        *language,
        *coins,
        *kept,
        *drawn,
        _("What someone sees over your shoulder."),
        _("Spyware on the phone or computer."),
    )
