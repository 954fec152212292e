"""Describes step by step what happens to an answer."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from privacy.mechanism.drawing import SCALE
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.strength import TWO_COINS
from surveys.respondent.label.names import branches, scrambled, write_whole


def describe_process(manifest: Manifest) -> tuple[str, ...]:
    steps = _describe_coins if manifest.mode == Mode.MANUAL else _describe_chance
    return (*steps(manifest), *_describe_path(manifest))


def _describe_coins(manifest: Manifest) -> tuple[str, ...]:
    """Describe how the respondent tosses coins and the page sends only the ticked answer."""
    return (
        (
            _("You toss two coins for each question.")
            if len(scrambled(manifest)) > 1
            else _("You toss two coins.")
        ),
        _("They decide whether you tick your own answer or the one they pick."),
        _("Only you see how the coins fall."),
        _("Only the ticks are sent."),
    )


def _describe_chance(manifest: Manifest) -> tuple[str, ...]:
    """Describe how the browser draws the codes."""
    return (
        _("You answer honestly."),
        _describe_draw(manifest),
        _("This happens on this device."),
        _("Only the code is sent."),
        *_describe_traces(manifest),
    )


def _describe_traces(manifest: Manifest) -> tuple[str, ...]:
    if not manifest.shared_devices:
        return ()
    return (
        _("This browser keeps no answers, and your code only if it could not be sent at once."),
        _("So the browser cannot tell who answered."),
    )


def _describe_draw(manifest: Manifest) -> str:
    questions = scrambled(manifest)
    coins = bool(questions) and all(
        question.k == 2
        and not question.is_rounded
        and not question.has_gate
        and 100 * (SCALE - question.mechanism.threshold) == TWO_COINS * SCALE
        for question in questions
    )
    if len(questions) > 1 or any(question.has_items for question in questions):
        if coins:
            return _("Before sending, this page tosses two coins for each answer and may swap it.")
        return _("Before sending, this page draws a number for each answer and may swap it.")
    if coins:
        return _("Before sending, this page tosses two coins and may swap your answer.")
    return _("Before sending, this page draws a number and may swap your answer.")


def _describe_path(manifest: Manifest) -> tuple[str, ...]:
    path = []
    if manifest.drawn is not None:
        # Translators: "drawn" is the smaller number: 2 of 4 questions.
        if manifest.block_count == len(manifest.blocks):
            drawn = ngettext(
                "You are asked %(drawn)s of %(count)s question, drawn by chance on this device.",
                "You are asked %(drawn)s of %(count)s questions, drawn by chance on this device.",
                manifest.block_count,
            )
        else:
            drawn = ngettext(
                "You are asked %(drawn)s of %(count)s group of questions, "
                "drawn by chance on this device.",
                "You are asked %(drawn)s of %(count)s groups of questions, "
                "drawn by chance on this device.",
                manifest.block_count,
            )
        numbers = {
            "drawn": write_whole(manifest.drawn),
            "count": write_whole(manifest.block_count),
        }
        path.append(drawn % numbers)
    if branches(manifest):
        path.append(
            _("Which questions you see depends on your answers, but the code looks the same.")
        )
    return tuple(path)
