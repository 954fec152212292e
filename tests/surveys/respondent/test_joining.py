"""Browsers load exactly the code of the modules; code that joining would change is rejected."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Token

from surveys.respondent.client_files import (
    FOLDER,
    RANDOMIZER,
    ClientFile,
    client_files,
    join_page,
    page_script,
)
from surveys.respondent.javascript import (
    Kind,
    UnsupportedScriptError,
    split_tokens,
    strip_comments,
)
from surveys.respondent.joining import join_modules
from surveys.respondent.parts import PARTS

RANDOMIZER_SOURCE = f"source/{RANDOMIZER}"
MODULES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js"))

A = "export const a = 1;\n"
USE_A = 'import { a } from "./a.js";\n'


def strip(source: str) -> str:
    return strip_comments(split_tokens(source)).removesuffix("\n")


def join(
    modules: dict[str, str], *, parts: Sequence[str] = (), apart: frozenset[str] = frozenset()
) -> str:
    return join_modules("page.js", read=modules.__getitem__, parts=parts, apart=apart)


def kinds(source: str) -> list[tuple[str, str]]:
    return [(one.kind.value, one.text) for one in split_tokens(source) if one.kind != Kind.GAP]


@pytest.mark.parametrize("name", MODULES)
def test_the_tokens_of_a_module_make_up_the_module(name: str) -> None:
    source = (FOLDER / name).read_text()
    assert "".join(token.text for token in split_tokens(source)) == source


@pytest.mark.parametrize("name", MODULES)
def test_another_lexer_finds_the_same_code_with_and_without_comments(name: str) -> None:
    """Pygments parses the language independently of our code; only white space may differ."""
    source = (FOLDER / name).read_text()

    def read(text: str) -> str:
        found = JavascriptLexer().get_tokens(text)
        code = (text for kind, text in found if kind not in Comment)
        return "".join("".join(code).split())

    assert read(strip(source)) == read(source)
    assert not any(kind in Comment for kind, _ in JavascriptLexer().get_tokens(strip(source)))
    assert not any(kind is Token.Error for kind, _ in JavascriptLexer().get_tokens(source))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a / b / c", ["a", "/", "b", "/", "c"]),
        ("f(a) / 2", ["f", "(", "a", ")", "/", "2"]),
        ("a[0] / 2 / b", ["a", "[", "0", "]", "/", "2", "/", "b"]),
        ("x = /a/g", ["x", "=", "/a/g"]),
        ('return /[/"]\\//.test(x)', ["return", '/[/"]\\//', ".", "test", "(", "x", ")"]),
        ("a.return / 2 / b", ["a", ".", "return", "/", "2", "/", "b"]),
        ("f(/\\d+/, 1)", ["f", "(", "/\\d+/", ",", "1", ")"]),
        ("`a` / 2", ["`a`", "/", "2"]),
        ("`a${/}/.test(x)}b`", ["`a${", "/}/", ".", "test", "(", "x", ")", "}b`"]),
        ("`${{ a: `${1}` }.a}`", ["`${", "{", "a", ":", "`${", "1", "}`", "}", ".", "a", "}`"]),
        ("`\\`\\${// no`", ["`\\`\\${// no`"]),
        ("'//' + \"/*\"", ["'//'", "+", '"/*"']),
        ("...a?.b", ["...", "a", "?.", "b"]),
        ("1_000.5 + 0x1f - .5", ["1_000.5", "+", "0x1f", "-", ".", "5"]),
        ("a => b >= c", ["a", "=>", "b", ">", "=", "c"]),
    ],
)
def test_slashes_quotes_and_braces_are_told_apart(source: str, expected: list[str]) -> None:
    assert [text for _, text in kinds(source)] == expected


@pytest.mark.parametrize(
    "source",
    [
        "if (a) /b/.test(c)",  # divides, or begins a regular expression
        "while (a) /b/g",
        "{} /b/g",
        "a++ / 2",
        "typeof /a/",
        "of / 2",
        "x = /a/v",
        "x = /a\n/",
        "'a\nb'",
        "'open",
        "`open",
        "`${a`",
        "/* open",
        "f(a]",
        "f(a",
        "}",
        "é = 1",
        "\\u0061 = 1",
        "#private",
        "@decorated",
        "a\r\nb",
        "a\u2028b",
        "// a\u2029b",
        "\ufeffa",
    ],
)
def test_unsupported_syntax_is_refused(source: str) -> None:
    with pytest.raises(UnsupportedScriptError):
        split_tokens(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("/** Says. */\nconst a = 1; // why\nf();\n", "const a=1;\nf();"),
        ("a;\n\n/**\n * Says.\n */\nf();", "a;\nf();"),
        ("a;\n// one\n\n// two\nf();", "a;\nf();"),
        ("f(/** @type {A} */ (b));", "f((b));"),
        ("a = /* b */ c;", "a=c;"),
        ("return/* b */c;", "return c;"),
        ("return /*\n*/ c;", "return\nc;"),
        ("  if (a) {\n    // why\n    b();\n  }", "if(a){b();}"),
        ("{\n  a\n  b;\n  c;\n}", "{a\nb;c;}"),
        ("a + +b - -c ? .5 : d / /* e */ f", "a+ +b- -c? .5:d / f"),
        ("  /** @type {A} */ let a;\n  b;", "let a;\nb;"),
        ("  `a\n  b`;\n\n\n  c;", "`a\n  b`;\nc;"),
        ('"/* no */" + `// ${a /* yes */} /* no */`', '"/* no */"+`// ${a} /* no */`'),
        ("a = b\n// why\n(c)", "a=b\n(c)"),
        ("/[/*]/g.test(a) // why", "/[/*]/g.test(a)"),
    ],
)
def test_comments_and_white_space_are_removed_and_statements_stay_separate(
    source: str, expected: str
) -> None:
    assert strip(source).strip() == expected.strip()


GAP = st.lists(
    st.sampled_from([" ", "\n", "\t", "/* a */", "/*\n*/", "/***/", "// b\n", "/* // */"]),
    max_size=6,
).map("".join)
CODE = st.sampled_from(
    [
        "a",
        "return",
        "1",
        '"/*"',
        "'//'",
        "`//${b}/*`",
        "=/[/*]/g",
        ";",
        ",",
        "(c)",
        "{ d }",
        "+",
        "??",
    ]
)


@given(st.lists(st.tuples(GAP, CODE), min_size=1))
def test_no_token_is_lost_or_added_and_no_statements_are_joined(
    parts: list[tuple[str, str]],
) -> None:
    source = "".join(f"{gap or ' '}{code}" for gap, code in parts)
    stripped = strip(source)
    assert kinds(stripped) == kinds(source)
    gaps = [token.text for token in split_tokens(stripped) if token.kind == Kind.GAP]
    assert not any("/" in gap for gap in gaps)

    def places(text: str) -> list[bool]:
        """Return, for each token except the first, whether a line ends before it."""
        ends, found = False, []
        for token in split_tokens(text):
            if token.kind == Kind.GAP:
                ends = "\n" in token.text
            else:
                found.append(ends)
                ends = False
        return found[1:]

    tokens = [text for _, text in kinds(source)]
    lost = [
        {before[-1], after[0]}
        for before, after, then, now in zip(
            tokens, tokens[1:], places(source), places(stripped), strict=False
        )
        if then != now
    ]
    assert all(pair & set("([{,;=?}]).") for pair in lost)


def test_a_module_comes_after_those_that_it_imports() -> None:
    modules = {
        "page.js": 'import { b } from "./parts/b.js";\nimport { a } from "./parts/a.js";\nb(a);\n',
        "parts/a.js": "/** One. */\nexport const a = 1; // one\n",
        "parts/b.js": 'import { a } from "./a.js";\nimport { c } from "../c.js";\n'
        "export async function b() {\n  return a + c;\n}\n",
        "c.js": "const d = 2;\nexport const c = d;\n",
    }
    assert join(modules) == (
        "// source/parts/a.js\nconst a=1;\n\n"
        "// source/c.js\nconst d=2;\nconst c=d;\n\n"
        "// source/parts/b.js\nasync function b(){return a+c;}\n\n"
        "// source/page.js\nb(a);\n"
    )


def test_a_file_that_should_be_small_does_not_name_its_modules() -> None:
    modules = {"page.js": USE_A + "f(a);\n", "a.js": A}
    joined = join_modules("page.js", read=modules.__getitem__, names_modules=False)
    assert joined == "const a=1;\n\nf(a);\n"


def test_a_module_that_stays_separate_is_imported_once() -> None:
    modules = {
        "page.js": 'import { draw } from "./randomize.js";\n' + USE_A + "draw(a);\n",
        "a.js": 'import { again, draw } from "./randomize.js";\nexport const a = draw(again);\n',
    }
    assert join(modules, apart=frozenset({"randomize.js"})) == (
        'import { again, draw } from "./randomize.js";\n\n'
        "// source/a.js\nconst a=draw(again);\n\n"
        "// source/page.js\ndraw(a);\n"
    )


PAGE_WITH_TABLE = {
    "page.js": 'import { table } from "./table.js";\nawait f(table);\n',
    "table.js": "export const table = {};\n",
}


def test_parts_that_nothing_imports_run_before_the_entry() -> None:
    parts = {
        "parts/b.js": 'import { table } from "../table.js";\ntable.b = 2;\n',
        "parts/c.js": 'import { table } from "../table.js";\nconst c = 3;\ntable.c = c;\n',
    }
    assert join(PAGE_WITH_TABLE | parts, parts=list(parts)) == (
        "// source/table.js\nconst table={};\n\n"
        "// source/parts/b.js\ntable.b=2;\n\n"
        "// source/parts/c.js\nconst c=3;\ntable.c=c;\n\n"
        "// source/page.js\nawait f(table);\n"
    )
    assert "parts/" not in join(PAGE_WITH_TABLE | parts)


@pytest.mark.parametrize(
    "part",
    [
        'import { table } from "../table.js";\ntable.b = await f();\n',
        'import { table } from "../page.js";\ntable.b = 2;\n',
        "table.b = 2;\n",
        "const table = {};\n",
    ],
)
def test_a_part_is_refused_like_any_other_module(part: str) -> None:
    with pytest.raises(UnsupportedScriptError):
        join(PAGE_WITH_TABLE | {"parts/b.js": part}, parts=["parts/b.js"])


@pytest.mark.parametrize(
    ("page", "other"),
    [
        # In one file, the code would have another meaning.
        (f"{USE_A}const b = a;\n", f"const b = 2;\n{A}"),
        (f"{USE_A}console.log(b, a);\n", f"const b = 2;\n{A}"),
        (f"{USE_A}const f = (b) => b + a;\n", f"const b = 2;\n{A}"),
        (f"{USE_A}f({{ b }}, a);\n", f"const b = 2;\n{A}"),
        (f"{USE_A}f(...b, a);\n", f"const b = 2;\n{A}"),
        (f"{USE_A}f(a ? b : 1);\n", f"const b = 2;\n{A}"),
        (f"{USE_A}f(`${{b}}`, a);\n", f"const b = 2;\n{A}"),
        (f"{USE_A}const g = a;\n", f"{A}g();\n"),
        # A line would continue the line above.
        (f"{USE_A}(a);\n", A),
        (f"{USE_A}[a].flat();\n", A),
        (f"{USE_A}f(a);\n", "export const a = 1\n"),
        # The code imports or exports in an unsupported way.
        ('import a from "./a.js";\nf(a);\n', A),
        ('import * as a from "./a.js";\nf(a);\n', A),
        ('import { a as b } from "./a.js";\nf(b);\n', A),
        ('import "./a.js";\nf();\n', A),
        ('import { a } from "https://example.org/a.js";\nf(a);\n', A),
        ('import { a } from "./a.js"\nf(a);\n', A),
        (f"f();\n{USE_A}f(a);\n", A),
        ('import { b } from "./a.js";\nf(b);\n', f"const b = 1;\n{A}"),
        (f'{USE_A}await import("./b.js");\n', A),
        (f"{USE_A}f(import.meta, a);\n", A),
        (f"{USE_A}f(a);\n", "const a = 1;\nexport { a };\n"),
        (f"{USE_A}f(a);\n", f"{A}export default a;\n"),
        # The code declares names in a way that is not tracked, or it keeps state.
        (f"{USE_A}f(a);\n", "export let a = 1;\n"),
        (f"{USE_A}f(a);\n", "var b = 2;\nexport const a = 1;\n"),
        (f"{USE_A}f(a);\n", "if (c) {\n  var b = 2;\n}\nexport const a = 1;\n"),
        (f"{USE_A}f(a);\n", "export const a = 1, b = 2;\n"),
        (f"{USE_A}f(a);\n", "const { b } = c;\nexport const a = 1;\n"),
        (f"{USE_A}f(a);\n", "const b = function () {};\nexport const a = 1;\n"),
        (f"{USE_A}f(a);\n", f"eval(b);\n{A}"),
        (f"{USE_A}switch (a) {{}}\n", A),
        # The module would wait while others run.
        (f"{USE_A}f(a);\n", f"await b();\n{A}"),
        # The modules import each other.
        (f"{USE_A}export const b = a;\n", 'import { b } from "./page.js";\nexport const a = b;\n'),
        (f"{USE_A}", A),
    ],
)
def test_code_that_joining_would_change_is_refused(page: str, other: str) -> None:
    with pytest.raises(UnsupportedScriptError):
        join({"page.js": page, "a.js": other})


@pytest.mark.parametrize("page", ["f(a.b, { b: a }, c?.b);\n", "f({ a: 1, b: 2 }, a);\n"])
def test_properties_may_have_any_name(page: str) -> None:
    other = f"const b = 2;\n{A}"
    assert join({"page.js": USE_A + page, "a.js": other}).endswith(page.replace(" ", ""))


def test_equal_sources_give_equal_bytes() -> None:
    modules = {name: (FOLDER / name).read_text() for name in MODULES}
    parts = {part: [f"parts/{one}.js" for one in part] for part in ((), PARTS)}
    for part, names in parts.items():
        first, again = (
            join_modules(
                "page.js",
                read=dict(ordered).__getitem__,
                parts=names,
                apart=frozenset({"randomize.js"}),
                names_modules=False,
            )
            for ordered in (modules.items(), reversed(modules.items()))
        )
        assert first.encode() == page_script(part).content
        assert again == first


def read_statements(source: str) -> list[str]:
    """Read the code of a module, without its import lines and the word export."""
    texts = [text for _, text in kinds(source)]
    while texts and texts[0] == "import":
        texts = texts[texts.index(";") + 1 :]
    return [text for text in texts if text != "export"]


@pytest.mark.parametrize(
    ("name", "file", "named"),
    [
        ("page.js", page_script(()), join_page(())),
        ("page.js", page_script(PARTS), join_page(PARTS)),
        ("self-test.js", client_files()["self-test.js"], ""),
    ],
)
def test_what_runs_is_the_code_of_the_sources_and_nothing_else(
    name: str, file: ClientFile, named: str
) -> None:
    """The page as one file names its modules, in the order in which the page's script has them."""
    script = file.content.decode()
    headings = re.findall("^// (.*)", named or script, re.MULTILINE)
    sources = [client_files()[one] for one in headings if not named or one != RANDOMIZER_SOURCE]
    assert [source.name for source in sources][-1] == f"source/{name}"
    expected = [text for one in sources for text in read_statements(one.content.decode())]
    assert read_statements(script) == expected


def test_the_randomizer_is_the_code_of_its_source() -> None:
    source = (FOLDER / "randomize.js").read_text()
    assert kinds(client_files()["randomize.js"].content.decode()) == kinds(source)
