"""Files look the same wherever they are made, and can show every common letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aggregator.typesetting import typst_files
from aggregator.typesetting.typst_files import NoFontError, typeset

FONTS = Path(typst_files.__file__).with_name("fonts")


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    path = tmp_path / "words.typ"
    path.write_text(
        "#set document(title: [Words], date: none)\n#json(bytes(sys.inputs.data))", "utf-8"
    )
    return path


def test_no_font_of_the_computer_is_used_and_every_font_of_the_folder_is() -> None:
    paths = {font.path for font in typst_files._load_fonts().fonts() if font.path}
    assert {Path(path) for path in paths} == {*FONTS.glob("*.tt[fc]")}


def test_every_font_stands_in_the_list_with_its_licence() -> None:
    listed = re.findall(r"^\| `(.+?)`.*?`(.+?)`", (FONTS / "README.md").read_text("utf-8"), re.M)
    assert sorted(f for pattern, _ in listed for f in FONTS.glob(pattern)) == sorted(
        FONTS.glob("*.tt[fc]")
    )
    assert (FONTS / "OFL.txt").exists()


@pytest.mark.parametrize(
    "text",
    [
        "Žluťoučký kůň çà Łódź İstanbul Việt Ẹ̀kọ́ ß ½ † ≥ − “q” €",
        "Ελληνικά Українська עברית",
        "مسح عن العمل، ٹھیک پژوهش ئۇيغۇرچە",
        "关于工作的调查 繁體 日本語のガ～〜 한국어",
        "हिन्दी বাংলা ਪੰਜਾਬੀ ગુજરાતી ଓଡ଼ିଆ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල",
        "ไทย ລາວ ខ្មែរ မြန်မာ አማርኛ Հայերեն ქართული",
        "😀 ✓ ☐ ★ →",
        "\ufeffa\u2028b\u200b",  # what PDF/UA forbids is left out
    ],
)
def test_common_letters_and_signs_have_a_font(layout: Path, text: str) -> None:
    pdf = typeset(layout, data=text, is_accessible=True)
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf
    assert pdf == typeset(layout, data=text, is_accessible=True)


def test_a_character_without_a_font_is_named(layout: Path) -> None:
    with pytest.raises(NoFontError, match="བ"):
        typeset(layout, data="Q1 བ", is_accessible=True)
    assert typeset(layout, data="Q1 བ")
