"""Read an uploaded file as a questionnaire, in any of the known formats."""

from __future__ import annotations

from pathlib import PurePath

from surveys.exchange.reading.files import read_file
from surveys.exchange.reading.questions import Parsed
from surveys.exchange.reading.redcap import read_dictionary
from surveys.exchange.reading.xlsform import read_xlsform


def read_questionnaire(content: bytes, *, name: str) -> Parsed:
    """Read a questionnaire, or raise Unreadable. `name` becomes the title if the file has none."""
    file = read_file(content)
    title = PurePath(name).stem[:200] or "Imported survey"
    if file.is_workbook:
        return read_xlsform(file, name=title)
    return read_dictionary(file.sheets[0], name=title)
