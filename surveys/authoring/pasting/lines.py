"""The lines of a pasted text, and the marks that they begin with: numbers, letters and bullets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase

# Word ends lines within a paragraph with U+000B, and pages with U+000C.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_INVISIBLE = re.compile("[\ufeff\u200b\u2060]")
_DIRECTION_IN_FRONT = re.compile("^[\u200e\u200f\u061c]+")
_BOXES = re.compile(" ?[□☐☑☒❏] ?")  # check boxes; a line may have several
_SPACES = re.compile(" *\t *|  +")
_MOST_LINES_IN_CELL = 20
_QUOTED_CELL = re.compile('"((?:[^"]|"")*)"')

# Does not match "12-month prevalence", "1- 5" or "3/4".
_NUMBER = re.compile(
    r"""(?: (?P<word>q|question|frage|pregunta) \ ?(?P<q>\d{1,3}[a-z]?)
              (?: \ ?[.):．：](?!\d) | (?=\s|$) )
          | (?P<coded>[a-z]\d{1,3}) (?P<coded_end>[.):]) (?=[\s¿]|$)
          | [(（] (?P<bracketed>\d{1,3}) [)）]
          | (?P<plain>\d{1,3})
              (?: \ ?(?P<end>\.-|[.)．）、])(?!\d)
                | (?P<dash>[-/]) (?=\s+[^\s\d]|[¿\u0621-\u064a])
                | (?=\t) )
        )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
# U+F000 to U+F0FF are the bullets of Word's symbol fonts.
_BULLET = re.compile(r"(?:[-–—*·o](?=\s|$)|[•◦▪‣●○■\uf000-\uf0ff])\s*")
# Does not match "z. B." or "U.S.".
_LETTER = re.compile(
    r"""(?: \((?P<bracketed>[a-t]|[ivx]{2,4})\)
          | (?P<latin>[a-tA-T]|[ivx]{2,4}) (?: [.)](?=[\s\u4e00-\u9fff]) | [、．] )
          | (?P<arabic>[ابتثجحخدهوزطيأ]) [-.)] (?=[\s\u0621-\u064a])
        )\s*""",
    re.VERBOSE,
)
_ORDERS = (
    list(ascii_lowercase),
    ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"],
    list("أبجدهوزحطي"),
    list("أبتثجحخد"),
)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """The mark at the start of a line. `label` is the number of a numbered line, such as "5a"."""

    label: str | None = None
    letter: str = ""  # the letter of a lettered line
    style: str = ""  # the bullet, or how the number or the letter is written
    is_item: bool = False  # whether the line begins with a bullet, a letter or a tab

    @property
    def begins(self) -> bool:
        """Whether a list can begin with this mark."""
        return self.letter == "" or any(order[0] == self.letter for order in _ORDERS)

    def continues(self, above: Mark) -> bool:
        """Return whether this mark follows the mark `above` in a list."""
        step = (above.letter, self.letter)
        is_next = any(step in pairwise(order) for order in _ORDERS)
        return self.style == above.style and (self.letter == "" or is_next)


def split_lines(text: str) -> list[str]:
    """Split text into lines that have no white space except tabs and single spaces."""
    return [_clean(line) for line in _LINE_END.split(text)]


def _clean(line: str) -> str:
    spaced = "".join(" " if unicodedata.category(c) == "Zs" else c for c in line)
    spaced = _BOXES.sub("\t", spaced)
    spaced = _SPACES.sub(lambda found: "\t" if "\t" in found[0] else " ", spaced)
    cleaned = _INVISIBLE.sub("", spaced).strip(" ").rstrip("\t ")
    return _DIRECTION_IN_FRONT.sub("", cleaned)


def join_rows(lines: Sequence[str]) -> Iterator[tuple[list[int], str]]:
    """Yield each row with the numbers of its lines, counted from 1.

    Spreadsheets put quotes around a cell with line breaks. If the cell is the question, its lines
    are joined by spaces. Each line of any other cell becomes a cell, because such a line is usually
    an answer.
    """
    place = 0
    while place < len(lines):
        row, numbers = lines[place], [place + 1]
        while end := _find_end(row, lines, numbers[-1]):
            head, tab, opened = row.rpartition("\t")
            closed, *rest = lines[end].split("\t")
            is_question = split_mark(head + tab)[1] == ""
            inside = [opened[1:], *lines[numbers[-1] : end], closed[:-1]]
            joined = (" " if is_question else "\t").join(filter(None, inside)).replace('""', '"')
            row = "\t".join((head + tab + joined, *rest))
            numbers += [n for n in range(numbers[-1] + 1, end + 2) if lines[n - 1] or n == end + 1]
        yield numbers, row
        place = numbers[-1]


def _find_end(row: str, lines: Sequence[str], start: int) -> int:
    """Return the index of the line that ends the row's last cell, or 0 if no further line does."""
    cell = row.rpartition("\t")[2]
    if not cell.startswith('"') or cell.count('"') % 2 == 0:
        return 0
    for place in range(start, min(start + _MOST_LINES_IN_CELL, len(lines))):
        first, tab, _ = lines[place].partition("\t")
        if first.count('"') % 2:
            is_row = "\t" in row or tab
            return place if is_row and first.endswith('"') else 0
    return 0


def split_mark(line: str) -> tuple[Mark, str]:
    """Split a line into its mark and the rest."""
    body = line.lstrip("\t ")
    found = _NUMBER.match(body)
    if found:
        return _read_number(found), body[found.end() :]
    if found := _BULLET.match(body):
        return Mark(is_item=True, style=found[0].rstrip()), body[found.end() :]
    if found := _LETTER.match(body):
        written = found["bracketed"] or found["latin"] or found["arabic"]
        style = found[0].rstrip().replace(written, "A" if written.isupper() else "a")
        letter = written.lower().replace("ا", "أ")
        return Mark(is_item=True, letter=letter, style=style), body[found.end() :]
    return Mark(is_item=body != line), body


def _read_number(found: re.Match[str]) -> Mark:
    if found["word"]:
        return Mark(label=name_label(found["q"]), style="Q")
    if found["coded"]:
        return Mark(label=name_label(found["coded"]), style=f"A{found['coded_end']}")
    if found["bracketed"]:
        return Mark(label=name_label(found["bracketed"]), style="()")
    return Mark(label=name_label(found["plain"]), style=found["end"] or found["dash"] or "\t")


def name_label(written: str) -> str:
    """Write the number of a question uniformly: "05A" and "٥a" as "5a"."""
    return re.sub(r"\d+", lambda digits: str(int(digits[0])), written.lower())


def split_cells(text: str) -> list[str]:
    """Split a row of a spreadsheet into its cells, without the empty ones."""
    cells = [_unquote(cell.strip()) for cell in text.split("\t")]
    return [cell for cell in cells if cell]


def _unquote(cell: str) -> str:
    """Undo the quotes that spreadsheets put around a cell that contains quotes."""
    found = _QUOTED_CELL.fullmatch(cell)
    return found[1].replace('""', '"').strip() if found and '""' in found[1] else cell
