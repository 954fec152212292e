"""Texts that anyone may load, compressed once and stored as rows.

Making or compressing such a text takes up to a second, and anyone can request it as often as they
like. Each text is therefore made only at the launch or on the first request, and then served from
its row. A row that was made from other inputs, such as older code, is replaced. In each process,
one thread at a time makes texts. Other threads wait a moment and then raise Busy.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock

import zopfli.gzip
from django.conf import settings
from django.db import DatabaseError, models, transaction

logger = logging.getLogger(__name__)
# Zopfli is not used for larger contents, because it can take seconds. Our scripts are smaller.
MOST_BYTES_SQUEEZED = 48_000
# In shorter contents, zopfli takes far longer to look for places to split, and gains nothing.
LEAST_BYTES_SPLIT = 4_000
PATIENCE_SECONDS = 2.0
_making = Lock()
# Together with the survey and the settings, these files determine a page's content.
_FOLDERS = ("privacy", "surveys", "aggregator", "config", "templates")
_SUFFIXES = frozenset({".py", ".html", ".mo", ".js", ".css", ".svg"})


class Busy(Exception):
    """Another thread has been making a text for too long."""


class StoredText(models.Model):
    """A stored text. Nothing in it names a person or a moment."""

    name = models.CharField(primary_key=True, max_length=200)
    # The text is deleted with its wave. Scripts and other files of the client have no wave.
    wave = models.ForeignKey(
        "surveys.Wave", null=True, on_delete=models.CASCADE, related_name="stored_texts"
    )
    key = models.BinaryField(max_length=32)
    compressed = models.BinaryField()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_stored_text"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text and how to make it. `key` is a hash of everything that determines the text's bytes."""

    name: str
    key: bytes
    make: Callable[[], bytes]
    wave: int | None = None
    is_squeezed: bool = False  # every visit loads it, so each byte counts


def compress(content: bytes) -> bytes:
    """Compress without a time stamp, so that equal content gives equal bytes."""
    return gzip.compress(content, compresslevel=6, mtime=0)


def squeeze(content: bytes) -> bytes:
    """Compress short texts 2 to 4 % better, but sixty times slower, for files that visits load.

    With a larger `blocksplittingmax`, repetitive texts take five times as long and become no
    smaller; with more iterations, a visit's files take twice as long for 17 bytes less.
    """
    if len(content) > MOST_BYTES_SQUEEZED:
        return compress(content)
    is_split = len(content) >= LEAST_BYTES_SPLIT
    compressed: bytes = zopfli.gzip.compress(
        content, numiterations=5, blocksplitting=is_split, blocksplittingmax=5
    )
    return compressed


def make_key(*parts: object) -> bytes:
    """Return a hash of the arguments, the release and the settings that pages show."""
    whole = (_release(), settings.PUBLIC_URL, settings.EXIT_URL, *parts)
    return hashlib.sha256(repr(whole).encode()).digest()


@cache
def _release() -> bytes:
    """Return a hash of the code, the templates and the pinned packages."""
    digest = hashlib.sha256((settings.BASE_DIR / "requirements.txt").read_bytes())
    for folder in _FOLDERS:
        for path in sorted((settings.BASE_DIR / folder).rglob("*")):
            if path.suffix in _SUFFIXES:
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def find_text(name: str, key: bytes) -> bytes | None:
    """Return a stored text, compressed, or None if it is missing or has a different key."""
    found = StoredText.objects.filter(name=name).values_list("key", "compressed").first()
    return bytes(found[1]) if found is not None and bytes(found[0]) == key else None


def read_text(text: Text) -> bytes:
    """Return a compressed text, after making and storing it if necessary. Raises Busy."""
    found = find_text(text.name, text.key)
    if found is not None:
        return found
    with one_at_a_time():
        # Another thread may have made the text while this one waited.
        return find_text(text.name, text.key) or store_text(text)


def store_text(text: Text) -> bytes:
    """Make a text, store it and return it compressed."""
    content = text.make()
    compressed = squeeze(content) if text.is_squeezed else compress(content)
    try:
        with transaction.atomic():
            StoredText.objects.update_or_create(
                name=text.name,
                defaults={"wave_id": text.wave, "key": text.key, "compressed": compressed},
            )
    except DatabaseError as error:  # the caller can still serve the text
        logger.warning("A text could not be stored: %s", type(error).__name__)
    return compressed


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one thread of the process in at a time; raise Busy after PATIENCE_SECONDS."""
    if not _making.acquire(timeout=PATIENCE_SECONDS):
        raise Busy
    try:
        yield
    finally:
        _making.release()
