"""Find the languages of an XLSForm's columns among Murmur's languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Murmur's languages, as forms name them. `default` names no language.
_NAMES = {
    "en": ("english", "en"),
    "de": ("german", "deutsch", "de"),
    "es": ("spanish", "español", "espanol", "castellano", "es"),
    "fr": ("french", "français", "francais", "fr"),
    "zh-hans": ("chinese", "chinese simplified", "simplified chinese", "中文", "zh", "zh-hans"),
    "ar": ("arabic", "العربية", "عربي", "ar"),
}
_CODES = {name: code for code, names in _NAMES.items() for name in names}
_WITH_CODE = re.compile(r"(?P<name>[^()]*)\((?P<code>[^()]*)\)\s*")


@dataclass(kw_only=True)
class Languages:
    own: str  # Murmur's code of the language
    own_name: str  # the name in the file, or "" if the columns have no language
    remarks: list[str] = field(default_factory=list)

    def find(self, written: str) -> str:
        """Return the code of a column's language, or "" if Murmur has no pages in that language."""
        if written in ("", self.own_name):
            return self.own
        return find_code(written)


def find_code(written: str) -> str:
    found = _WITH_CODE.fullmatch(written.strip())
    for name in (found["code"], found["name"]) if found else (written,):
        lower = name.strip().lower().replace("_", "-")
        code = _CODES.get(lower) or _CODES.get(lower.partition("-")[0])
        if code:
            return code
    return ""


def read_languages(labels: Sequence[str], *, default: str) -> Languages:
    """Choose the survey's own language: the file's default, or the language of the first labels."""
    named = [name for name in labels if name]
    own_name = default if default in named else ""
    if not own_name and "" not in labels and named:
        own_name = next((name for name in named if find_code(name)), named[0])
    code = find_code(own_name or default)
    if code:
        return Languages(own=code, own_name=own_name)
    said = own_name or default
    remark = (
        f"Murmur does not know the language “{said}”, so its own words are in English. Change the "
        "language in the settings."
        if said and said != "default"
        else ""
    )
    return Languages(own="en", own_name=own_name, remarks=[remark] if remark else [])
