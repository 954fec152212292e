"""Writes all texts of a draft with their translations as CSV, which any spreadsheet opens.

Unlike files of results, this file begins with a byte order mark. Without it, spreadsheets often
read Arabic and Chinese as nonsense.
"""

from __future__ import annotations

import csv
import io

from surveys.authoring.translating.cells import defuse
from surveys.manifest.languages import NAMES, list_texts
from surveys.manifest.manifest import Manifest
from surveys.models import Survey

WHERE, ORIGINAL = "where", "original"


def write_file(*, survey: Survey, manifest: Manifest) -> bytes:
    """Write one row for each text, and one column for each translation.

    If the draft has no translation, there is an empty column for every other language of Murmur.
    """
    texts = {
        one.language: one.texts
        for one in survey.translations.all()
        if one.language != survey.language
    }
    if not texts:
        texts = {code: {} for code in NAMES if code != survey.language}
    output = io.StringIO()
    writer = csv.writer(output, quoting=csv.QUOTE_ALL)
    writer.writerow([WHERE, ORIGINAL, *texts])
    for source in list_texts(manifest):
        translated = [words.get(source.text, "") for words in texts.values()]
        writer.writerow(map(defuse, [source.place, source.text, *translated]))
    return output.getvalue().encode("utf-8-sig")
