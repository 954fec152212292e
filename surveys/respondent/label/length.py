"""How long a survey is: its questions, and the minutes that answering them takes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.respondent.label.names import branches, write_whole

SECONDS_OF_A_PAGE = 12
WORDS_OF_A_MINUTE = 200
# Chinese, Japanese, Thai and others put no spaces between words; two letters count as one word.
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff]")
LETTERS_OF_A_WORD = 2


def describe_length(manifest: Manifest) -> str:
    """Say how many questions a person answers at most, and about how many minutes that takes."""
    asked = _list_most(manifest)
    count = sum(question.described.pages for question in asked)
    if manifest.drawn is not None or branches(manifest):
        questions = ngettext("Up to %(count)s question", "Up to %(count)s questions", count)
    else:
        questions = ngettext("%(count)s question", "%(count)s questions", count)
    minutes = count_minutes(manifest)
    time = ngettext("about %(count)s minute", "about %(count)s minutes", minutes)
    # Translators: a list and what comes after its comma.
    return _("%(list)s, %(next)s") % {
        "list": questions % {"count": write_whole(count)},
        "next": time % {"count": write_whole(minutes)},
    }


def count_minutes(manifest: Manifest) -> int:
    asked = _list_most(manifest)
    pages = sum(max(1, question.described.pages) for question in asked) + bool(manifest.consent)
    read = [manifest.introduction, manifest.consent]
    words = sum(map(count_words, (*read, *(text for one in asked for text in _list_texts(one)))))
    return math.ceil(pages * SECONDS_OF_A_PAGE / 60 + words / WORDS_OF_A_MINUTE)


def count_words(text: str) -> int:
    letters = len(_WITHOUT_SPACES.findall(text))
    return len(_WITHOUT_SPACES.sub(" ", text).split()) + math.ceil(letters / LETTERS_OF_A_WORD)


def _list_texts(question: ManifestQuestion) -> Iterator[str]:
    yield from (question.text, question.follow_up)
    yield from (option.text for option in question.options)


def _list_most(manifest: Manifest) -> list[ManifestQuestion]:
    """List all pages that one person can see, or those of the longest blocks that are drawn."""
    if manifest.drawn is None:
        return list(manifest.questions)
    blocks = manifest.blocks
    pages: Counter[int] = Counter()
    for question in manifest.questions:
        if question.name in blocks:
            pages[blocks[question.name]] += question.described.pages
    drawn = [block for block, _count in pages.most_common(manifest.drawn)]
    return [one for one in manifest.questions if blocks.get(one.name, drawn[0]) in drawn]
