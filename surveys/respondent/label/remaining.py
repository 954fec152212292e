"""What remains: what shows although answers are scrambled, and what the crowd cannot prevent."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.respondent.label.names import branches, write_whole
from surveys.respondent.label.parts import Row


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
