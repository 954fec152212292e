"""Says how much a person's codes improve a guess about one answer or about all of them."""

from __future__ import annotations

from django.utils.translation import gettext as _

from surveys.manifest.manifest import Manifest
from surveys.manifest.strength import (
    LARGEST_UNCONFIRMED_EPSILON,
    PRACTICALLY_CERTAIN_FROM,
    largest_guess_in_tenths,
)
from surveys.respondent.label.names import scrambled, write_tenths


def write_guess(epsilon: float) -> str:
    """Write how many guesses out of 100 may be right at this ε."""
    return write_tenths(largest_guess_in_tenths(epsilon))


def is_practically_certain(manifest: Manifest) -> bool:
    """Return whether a person's codes together leave hardly any doubt about one fact."""
    # With coins, an answer may reveal more. The coins page has its own label.
    return manifest.drawn_epsilon >= PRACTICALLY_CERTAIN_FROM


def describe_together(manifest: Manifest) -> tuple[str, ...]:
    if _most_codes(manifest) < 2:
        return ()
    one = max(manifest.statement_epsilon(question) for question in scrambled(manifest))
    first = _("With all codes about one answer, at most %(most)s in 100.") % {
        "most": write_guess(one)
    }
    told = (_("A guess between two answers is right 50 times in 100."), first)
    total = manifest.drawn_epsilon
    if total <= one:
        return told
    if is_practically_certain(manifest):
        all_ = _("If all your answers are related, at most %(most)s in 100: practically certain.")
    else:
        all_ = _("If all your answers are related, at most %(most)s in 100.")
    more = (_("That is more than Murmur advises."),) if total > LARGEST_UNCONFIRMED_EPSILON else ()
    return (*told, all_ % {"most": write_guess(total)}, *more)


def _most_codes(manifest: Manifest) -> int:
    """Count the scrambled codes of a person who gets the blocks with the most codes."""
    codes = {one.name: len(list(one.symbols(block=None))) for one in scrambled(manifest)}
    return int(sum(manifest.pick_drawn(codes)))
