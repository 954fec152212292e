"""Parts of pages as HTML, kept (cached) between requests."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import RLock

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from aggregator.results.blocks import list_blocks
from aggregator.results.display import Results
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.respondent.label.label import PrivacyLabel

# Blocks change only at looks, and rendering them takes most of the time that a page with many
# questions needs. Each process therefore keeps the blocks that were read last, up to this total
# number of characters.
_MOST_CHARACTERS = 8_000_000
_MOST_CHARACTERS_OF_ONE = 2_000_000
_rendered: OrderedDict[Hashable, SafeString] = OrderedDict()
# Several threads answer requests. Python runs one of them at a time, so rendering in two threads
# would be no faster, and two threads that render the same part would each take twice as long.
_lock = RLock()


def render_blocks(
    results: Results,
    *,
    truth: Mapping[str, float],
    describe_label: Callable[[], PrivacyLabel],
    is_public: bool = False,
    has_links: bool = False,
    describe_readers: Callable[[], str] = str,
) -> SafeString:
    """Render the blocks of these results, or return them from the cache.

    Anyone may read public blocks, which leave out codes and figures about a known group. Only
    readers who may compare and download get links to the pages for comparisons and downloads.
    `describe_label` returns what respondents were told, and `describe_readers` returns what readers
    of the blocks can learn. These texts follow from the manifest and may take a second to write, so
    the functions are called only when blocks are rendered.
    """
    key = (is_public, has_links, make_content_key(results, has_truth=bool(truth)))
    return render_once(
        key,
        lambda: _render_blocks(
            results,
            truth=truth,
            is_public=is_public,
            has_links=has_links,
            label=describe_label(),
            reader_note=describe_readers(),
        ),
    )


def render_once(key: Hashable, render: Callable[[], SafeString]) -> SafeString:
    """Render a part, or return it from the cache; the key must determine every byte."""
    with _lock:
        found = _rendered.get(key)
        if found is None:
            found = render()
            if len(found) > _MOST_CHARACTERS_OF_ONE:
                return found
            _rendered[key] = found
            while sum(map(len, _rendered.values())) > _MOST_CHARACTERS:
                _rendered.popitem(last=False)
        else:
            _rendered.move_to_end(key)
    return found


def _render_blocks(
    results: Results,
    *,
    truth: Mapping[str, float],
    is_public: bool,
    has_links: bool,
    label: PrivacyLabel,
    reader_note: str,
) -> SafeString:
    context = {
        "blocks": list_blocks(results, truth=truth, with_details=True, is_public=is_public),
        "wave": results.wave,
        "manifest": results.manifest,
        "epsilons": list_epsilons(results.manifest),
        "charts_url": _find_charts_page(results) if has_links else "",
        "breakdown_slug": results.wave.survey.slug if has_links else "",
        "label": label,
        "reader_note": reader_note,
        "lang": language_tag(results.manifest.language),
    }
    return render_to_string("aggregator/results/_blocks.html", context)


def _find_charts_page(results: Results) -> str:
    """Return the URL of the page that makes charts to download, or "" for reports of coins."""
    if results.wave.mode == Mode.MANUAL:
        return ""
    return reverse("aggregator:data", args=[results.manifest.survey])


def make_content_key(results: Results, *, has_truth: bool) -> Hashable:
    """Collect everything that determines what blocks show; the manifest's hash covers all text."""
    snapshot = results.snapshot
    return (
        results.wave.manifest_hash_hex,
        results.fixed_end,
        has_truth,
        snapshot.pk,
        snapshot.method_version,
        snapshot.final,
        tuple(snapshot.looks),
        str(snapshot.counts),
    )


def list_epsilons(manifest: Manifest) -> list[tuple[int, ManifestQuestion, float, float]]:
    """List each question: its number, its own ε, and its ε with related questions (0 if none)."""
    return [
        (
            question.number,
            question,
            question.epsilon,
            manifest.statement_epsilon(question)
            if question.is_scrambled and len(manifest.telling(question)) > 1
            else 0.0,
        )
        for question in manifest.questions
        if question.is_answered
    ]
