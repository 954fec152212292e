"""Says how long a survey is: how many questions it has, and how many minutes they take."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.manifest.grids import count_pages, list_grids
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.respondent.label.names import branches, counts_pages, write_whole

SECONDS_OF_A_PAGE = 12
WORDS_OF_A_MINUTE = 200
# Chinese, Japanese, Thai and others put no spaces between words. Two letters count as one word.
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff]")
LETTERS_OF_A_WORD = 2


def describe_length(manifest: Manifest) -> str:
    """Say how many questions or pages a person sees, and about how many minutes they take.

    The label counts questions or pages as the pages themselves do.
    """
    count = count_all_pages(manifest) if counts_pages(manifest) else count_questions(manifest)
    is_most = manifest.drawn is not None or branches(manifest)
    if counts_pages(manifest) and is_most:
        questions = ngettext("Up to %(count)s page", "Up to %(count)s pages", count)
    elif counts_pages(manifest):
        questions = ngettext("%(count)s page", "%(count)s pages", count)
    elif is_most:
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
    asked = [one for one in _list_most(manifest) if not one.is_second]
    read = [manifest.introduction, manifest.consent]
    words = sum(map(count_words, (*read, *(text for one in asked for text in _list_texts(one)))))
    # Each row on a page takes as long as a separate page.
    rows = sum(
        max(1, one.described.pages) if one.score is None else len(one.score.items) for one in asked
    )
    seconds = (rows + manifest.asks_consent) * SECONDS_OF_A_PAGE
    return math.ceil(seconds / 60 + words / WORDS_OF_A_MINUTE)


def count_questions(manifest: Manifest) -> int:
    asked = (one for one in _list_most(manifest) if not one.is_second)
    return sum(question.described.pages for question in asked)


def count_all_pages(manifest: Manifest) -> int:
    """Count the pages from Start to the check, including pages for a text or for consent."""
    pages = sum(map(count_pages, list_grids(manifest.questions)))
    if manifest.drawn is not None:
        # Drawn rows can come from different pages.
        pages = min(pages, sum(count_pages([one]) for one in _list_most(manifest)))
    return pages + manifest.asks_consent


def count_words(text: str) -> int:
    letters = len(WITHOUT_SPACES.findall(text))
    return len(WITHOUT_SPACES.sub(" ", text).split()) + math.ceil(letters / LETTERS_OF_A_WORD)


def _list_texts(question: ManifestQuestion) -> Iterator[str]:
    yield from (question.text, question.follow_up)
    if question.score is None:
        yield from (option.text for option in question.options)
    else:  # people read the items, and the shared answers once
        yield from (item.text for item in question.score.items)
        yield from (shared.text for shared in question.score.options)


def _list_most(manifest: Manifest) -> list[ManifestQuestion]:
    """List the most questions that one person can see, with the longest blocks if any are drawn."""
    if manifest.drawn is None:
        return list(manifest.questions)
    blocks = manifest.blocks
    pages: Counter[int] = Counter()
    for question in manifest.questions:
        if question.name in blocks:
            pages[blocks[question.name]] += count_pages([question])
    drawn = [block for block, _count in pages.most_common(manifest.drawn)]
    return [one for one in manifest.questions if blocks.get(one.name, drawn[0]) in drawn]
