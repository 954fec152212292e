"""Answers that the page offers, in the six languages of surveys: yes, no, refusal and "none"."""

from __future__ import annotations

import re

from surveys.manifest.plain_text import fold

_YES = {"yes", "ja", "oui", "sí", "si", "نعم", "是"}
_NO = {"no", "nein", "non", "لا", "否"}
# The first words of each language are the words on the respondents' page.
_REFUSED = {
    "prefer not to say",
    "i prefer not to say",
    "i'd prefer not to say",
    "prefer not to answer",
    "i prefer not to answer",
    "möchte ich nicht sagen",
    "keine angabe",
    "möchte ich nicht beantworten",
    "je préfère ne pas le dire",
    "je préfère ne pas répondre",
    "je ne souhaite pas répondre",
    "prefiero no decirlo",
    "prefiero no contestar",
    "prefiero no responder",
    "أفضل ألا أقول",
    "أفضل ألا أجيب",
    "أفضل عدم الإجابة",
    "不想说",
    "不愿回答",
    "不想回答",
    "拒绝回答",
}
_NONE = {
    "none of these",
    "none of the above",
    "none",
    "nichts davon",
    "keine davon",
    "keines davon",
    "nichts des genannten",
    "rien de tout cela",
    "aucune de ces réponses",
    "aucun de ces choix",
    "nada de esto",
    "ninguna de las anteriores",
    "ninguno de los anteriores",
    "ninguna de estas",
    "لا شيء من هذا",
    "لا شيء مما سبق",
    "以上都不是",
    "以上皆非",
}
_ARABIC_POINTS = re.compile("[\u064b-\u0652]")


def is_refusal(answer: str) -> bool:
    return _read(answer) in _REFUSED


def is_none(answer: str) -> bool:
    return _read(answer) in _NONE


def is_yes_or_no(options: list[str]) -> bool:
    return len(options) == 2 and {"yes", "no"} == set(map(read_yes_or_no, options))


def read_yes_or_no(text: str) -> str:
    """Return "yes" or "no" for these words in any survey language, otherwise an empty string."""
    word = _read(text)
    return "yes" if word in _YES else "no" if word in _NO else ""


def _read(answer: str) -> str:
    return _ARABIC_POINTS.sub("", fold(answer)).rstrip(".。").replace("’", "'")
