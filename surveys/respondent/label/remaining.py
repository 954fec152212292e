"""Says what is visible although answers are scrambled, and what the crowd cannot prevent."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.respondent.label.names import branches, write_whole
from surveys.respondent.label.publication import describe_publication


def describe_what_shows(manifest: Manifest) -> tuple[str, ...]:
    shows = [
        _("That this device opened this page, with its network address, browser and languages."),
        describe_website(),
    ]
    if manifest.translations:
        shows.append(_("In which language you read it."))
    if manifest.mode == Mode.MANUAL:
        shows.append(_("That you used coins."))
    elif not manifest.shared_devices:
        shows.append(
            _(
                "That this browser took part. It may keep the questions and your code, "
                "but no answers."
            )
        )
    if manifest.drawn is not None:
        shows.append(_("Which questions were drawn for you."))
    shows.append(_("How long you took, from opening this page until the code is sent."))
    if branches(manifest):
        shows.append(_("That time can hint at your answers: some lead to more questions."))
    shows.append(_("The browser’s history shows when this page was used."))
    shows.append(describe_publication(manifest))
    shows.append(_("What someone over your shoulder sees, or spyware on this device."))
    return tuple(shows)


def describe_website() -> str:
    """Say what the operator of the server can do. Nothing on the page can prevent it."""
    return _("The website’s owners see which code is yours, and could change this page.")


def describe_crowd(manifest: Manifest) -> tuple[str, ...]:
    """Say which crowd hides a code, and when the crowd cannot."""
    others = manifest.minimum_batch - 1
    together = ngettext(
        "Your code is counted together with at least %(count)s other.",
        "Your code is counted together with at least %(count)s others.",
        others,
    )
    return (
        together % {"count": write_whole(others)},
        _("The researchers could add made-up codes to single out yours."),
        _("Then only the scrambling protects you."),
    )
