"""Says which results anyone may read, and how much the results reveal about a person."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from privacy.mechanism.mechanisms import round_up_epsilon
from surveys.formatting import delta
from surveys.manifest.manifest import Manifest
from surveys.manifest.readers import Loss, find_replaced, find_taking_part, worst_reader
from surveys.manifest.releases import ReleaseKind
from surveys.respondent.label.guesses import write_guess
from surveys.respondent.label.names import name_questions, sent_as_answered, write_whole
from surveys.respondent.label.parts import join_sentences

# Prevents a line break. In Arabic, a break would swap the two halves of a formula.
_GAP = "\N{NO-BREAK SPACE}"


def describe_publication(manifest: Manifest) -> str:
    if manifest.publishes_releases:
        return join_sentences(
            (describe_anyone(manifest), *_describe_alerts(manifest), *_describe_releases(manifest))
        )
    return describe_anyone(manifest) or _("The researchers decide who sees the results.")


def describe_anyone(manifest: Manifest) -> str:
    """Say which results anyone can see, or return "". Pages show the text at the top and below."""
    if manifest.publishes_exact:
        return _(
            "Once the survey has closed, anyone can see estimates for everyone together, but no "
            "codes and no groups."
        )
    if manifest.publishes_releases:
        return _(
            "Once the survey has closed, anyone can see figures that chance has changed a little."
        )
    return ""


def _describe_alerts(manifest: Manifest) -> Iterator[str]:
    """Say that anyone may learn something before the close."""
    planned = manifest.planned_releases or ()
    asked = {name for one in planned if one.kind.comes_while_open for name in one.questions}
    if asked:
        # Translators: "name" is "Question 3" or "Questions 1, 3 and 4".
        alert = _(
            "%(name)s: while the survey is open, a daily count that chance changes may show that "
            "many gave one answer."
        )
        questions = [one for one in manifest.questions if one.name in asked]
        yield alert % {"name": name_questions(manifest, questions)}


def _describe_releases(manifest: Manifest) -> Iterator[str]:
    """Say how much releases can reveal at most, however the researchers spend the cap."""
    yield from _describe_taking_part(manifest)
    worst = worst_reader(manifest)
    if worst is not None:
        # Translators: how often a guess is right.
        answered = _(
            "About an answer: readers at most %(most)s times instead of 50, the researchers "
            "%(server)s."
        )
        yield answered % {"most": _write_guess(worst.loss), "server": write_guess(worst.server)}
    plain = sent_as_answered(manifest)
    if plain:
        # Translators: "name" is "Question 3" or "Questions 1, 3 and 4".
        as_it_is = _("%(name)s, sent as it is: readers at most %(most)s times instead of 50.")
        yield as_it_is % {
            "name": name_questions(manifest, plain),
            "most": _write_guess(find_replaced(manifest)),
        }


def _describe_taking_part(manifest: Manifest) -> Iterator[str]:
    most = _write_guess(find_taking_part(manifest))
    if manifest.planned_releases is not None:
        # Translators: "most" is a number of guesses.
        yield _(
            "Without these figures, a guess about whether you took part is right 50 times in 100. "
            "With them, it is right at most %(most)s times."
        ) % {"most": most}
        yield from _describe_kept(manifest)
        return
    # With one person fewer than the smallest batch, there are no figures, so a single person could
    # decide whether figures exist.
    # Translators: "most" is a number of guesses, "others" a number of people.
    taking_part = _(
        "Without these figures, a guess about whether you took part is right 50 times in 100. With "
        "them, it is right at most %(most)s times if at least %(others)s others take part."
    )
    yield taking_part % {"most": most, "others": write_whole(manifest.minimum_batch)}


def _describe_kept(manifest: Manifest) -> Iterator[str]:
    """Say what is kept for releases of a survey that few people answered."""
    yield _("If fewer than %(least)s people take part, only how often each code came is kept.") % {
        "least": write_whole(manifest.minimum_batch)
    }
    planned = manifest.planned_releases or ()
    groups = {one.group for one in planned}
    divides = [one for one in manifest.questions if one.name in groups]
    if divides:
        # Translators: follows the sentence above. "name" is "Question 3" or "Questions 1, 3 and 4".
        kept = _(
            "This is also kept for each answer to %(name)s, so one person’s codes may stand alone."
        )
        yield kept % {"name": name_questions(manifest, divides)}
    if any(one.kind == ReleaseKind.KEY_DRIVER for one in planned):
        # Translators: follows the text above; "codes": of two questions.
        yield _("How often two codes were equal is kept, too.")


def list_formulas(manifest: Manifest) -> Iterator[str]:
    """Write the largest losses as formulas for people who check the page."""
    if manifest.ledger:
        # Translators: a formula follows, in all of these.
        yield _("All your codes together: %(loss)s") % {"loss": _write_loss(manifest.drawn_epsilon)}
    if not manifest.publishes_releases:
        return
    once = _write_loss(find_taking_part(manifest).epsilon)
    if manifest.release_delta_nanos:
        once += f",{_GAP}δ{_GAP}={_GAP}{delta(manifest.release_delta_nanos)}"
    yield _("Whether you took part, for readers: %(loss)s") % {"loss": once}
    worst = worst_reader(manifest)
    if worst is not None:
        yield _("One answer, for readers: %(loss)s") % {"loss": _write_loss(worst.reader)}
    if sent_as_answered(manifest):
        replaced = _write_loss(find_replaced(manifest).epsilon)
        yield _("What is sent as it is, for readers: %(loss)s") % {"loss": replaced}


def _write_guess(loss: Loss) -> str:
    return write_guess(loss.guess_epsilon)


def _write_loss(epsilon: float) -> str:
    """Write ε rounded up, unless it is a whole number of hundredths, as the cap is."""
    shown = Decimal(round(100 * epsilon)) / 100
    if float(shown) != epsilon:
        shown = round_up_epsilon(epsilon)
    return f"ε{_GAP}={_GAP}{number_format(shown, decimal_pos=2, use_l10n=True)}"
