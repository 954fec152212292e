"""What remains: what shows although answers are scrambled, and what the crowd cannot prevent."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import SMALLEST_USUAL_BATCH, Limit, Manifest
from surveys.manifest.modes import Mode
from surveys.respondent.label.names import branches, write_whole
from surveys.respondent.label.parts import Row


def describe_warnings(manifest: Manifest, *, asked_elsewhere: int) -> tuple[str, ...]:
    """Say what people should know before anything else; nothing about most surveys.

    `asked_elsewhere` is how many other surveys of the author share a question with this one.
    """
    limits = _describe_limits(manifest)
    said = [limits[limit] for limit in limits if limit in manifest.acknowledged]
    if asked_elsewhere:
        said.append(_describe_elsewhere(asked_elsewhere))
    if {Limit.MINIMUM_BATCH, Limit.TOTAL_EPSILON}.intersection(manifest.exceeded_limits):
        said.append(_describe_made_up())
    return tuple(said)


def _describe_limits(manifest: Manifest) -> dict[str, str]:
    few = _("This survey counts codes in groups of only %(count)s. At least %(usual)s are usual.")
    cap = manifest.cap or 0
    ends = ngettext(
        "This survey ends after only %(count)s person, fewer than Murmur advises.",
        "This survey ends after only %(count)s people, fewer than Murmur advises.",
        cap,
    )
    batch = {
        "count": write_whole(manifest.minimum_batch),
        "usual": write_whole(SMALLEST_USUAL_BATCH),
    }
    return {
        Limit.TOTAL_EPSILON: _("All your answers together are less protected than Murmur advises."),
        Limit.MINIMUM_BATCH: few % batch,
        Limit.CAP: ends % {"count": write_whole(cap)},
    }


def _describe_elsewhere(surveys: int) -> str:
    asked = ngettext(
        "The same question is asked in %(count)s other survey by this author. "
        "Answering both tells more.",
        "The same questions are asked in %(count)s other surveys by this author. "
        "Answering several tells more.",
        surveys,
    )
    return asked % {"count": write_whole(surveys)}


def describe_what_shows(manifest: Manifest) -> Row:
    by_hand = manifest.mode == Mode.MANUAL
    shows = [_("That this phone or computer, with its network address, opened this page.")]
    if manifest.translations:
        shows.append(_("In which language you read it."))
    if by_hand:
        shows.append(_("That you used coins."))
    else:
        shows.append(_("That this browser took part: it remembers that, but no answers."))
    if manifest.drawn is not None:
        shows.append(_("Which questions were drawn for you."))
    shows.append(_("How long you took, from opening this page until the code is sent."))
    if branches(manifest):
        shows.append(_("That time can hint at your answers: some lead to more questions."))
    shows.append(_("What someone sees over your shoulder."))
    shows.append(_("Spyware on the phone or computer."))
    return Row(question=_("What is not hidden?"), answers=tuple(shows))


def describe_crowd(manifest: Manifest) -> tuple[str, ...]:
    """Say who a code hides among, and when it does not."""
    others = manifest.minimum_batch - 1
    together = ngettext(
        "Otherwise your code is counted together with at least %(count)s other.",
        "Otherwise your code is counted together with at least %(count)s others.",
        others,
    )
    return (
        _describe_made_up(),
        _("Then only the scrambling protects you, with the odds above."),
        together % {"count": write_whole(others)},
    )


def _describe_made_up() -> str:
    return _("The people who run this survey could send made-up codes and so single yours out.")
