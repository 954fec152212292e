"""Measures what a respondent meets before Start: words, seconds, pixels, bytes; in six languages.

Starts the real web process on a new database that contains only five surveys. With --pictures
FOLDER, it also takes screenshots of a visit on a phone (upright, in a short window, on its side)
and on a desktop, in light and dark mode and in Arabic.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from scripts.benchmarks.grounds.opening import count_seconds, count_words, measure_opening
from scripts.benchmarks.page import Visit
from scripts.stack.chromium import launch_chromium
from scripts.stack.stack import Stack, free_port

LANGUAGES = ("en", "es", "fr", "de", "ar", "zh-hans")
PHONE = (390, 844)
SIZES = (PHONE, (390, 664), (844, 340), (1280, 800))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PICTURED = ("mine", "one", "weak")
MAKE_SURVEYS = """
import json
from scripts.benchmarks.grounds.five_surveys import FIVE, LANGUAGES, list_authors_words
waves = {name: make() for name, make in FIVE.items()}
print(json.dumps({
    name: [wave.survey.slug, {one: list_authors_words(wave, one) for one in LANGUAGES}]
    for name, wave in waves.items()
}))
"""
EXIT = "https://neutral.example/"


@dataclass(frozen=True, kw_only=True)
class Asked:
    name: str
    slug: str
    authors: dict[str, list[str]]  # the author's words, by language


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure in English and Arabic only")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="murmur-opening-") as folder:
        stack = Stack(var=Path(folder), port=free_port(), settings={"MURMUR_EXIT_URL": EXIT})
        try:
            stack.prepare()
            made = json.loads(stack.manage("shell", "-c", MAKE_SURVEYS).splitlines()[-1])
            asked = [Asked(name=name, slug=one[0], authors=one[1]) for name, one in made.items()]
            for name in ("broker", "limiter", "web"):
                stack.start(name)
            stack.wait_until_ready()
            with sync_playwright() as playwright:
                browser = launch_chromium(playwright.chromium)
                languages = ("en", "ar") if given.quick else LANGUAGES
                report(browser, stack.url, asked, languages)
                if given.pictures:
                    take_pictures(browser, stack.url, asked, given.pictures)
                browser.close()
        finally:
            stack.stop()


def report(browser: Browser, base: str, asked: list[Asked], languages: tuple[str, ...]) -> None:
    print("Before Start, on 390 × 844 pixels. Words: all, and Murmur's own without the author's.")
    print(
        f"{'survey':<8}{'language':<10}{'words':>6}{'own':>6}{'seconds':>9}{'pixels':>8}{'bytes':>9}"
    )
    found: dict[str, dict[str, list[int]]] = {}
    for survey, language in product(asked, languages):
        row = measure(browser, base, survey, language)
        print(
            f"{survey.name:<8}{language:<10}{row[0]:>6}{row[1]:>6}{row[2]:>9}{row[3]:>8}{row[4]:>9,}"
        )
        found.setdefault(survey.name, {})[language] = row
    print(f"RESULT {json.dumps(found)}")


def measure(browser: Browser, base: str, survey: Asked, language: str) -> list[int]:
    context = new_context(browser, PHONE, "light", language)
    requests: list[Request] = []
    context.on("request", lambda request: requests.append(request))
    page = context.new_page()
    page.goto(f"{base}/s/{survey.slug}/{language}", wait_until="networkidle")
    opening = measure_opening(page, authors=survey.authors[language])
    loaded = Visit(requests=requests, cookies=0, base=base).rows()
    context.close()
    weight = sum(row[2] for row in loaded)
    seconds = count_seconds(opening.text)
    return [count_words(opening.text), opening.words, seconds, opening.pixels, weight]


def take_pictures(browser: Browser, base: str, asked: list[Asked], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    surveys = [one for one in asked if one.name in PICTURED]
    for survey, size, scheme, language in product(surveys, SIZES, SCHEMES, ("en", "ar")):
        if language == "ar" and scheme == "dark":
            continue
        context = new_context(browser, size, scheme, language)
        page = context.new_page()
        page.goto(f"{base}/s/{survey.slug}/{language}", wait_until="networkidle")
        for step in visit(page, is_left=survey.name == "mine"):
            name = f"{survey.name}-{step}-{size[0]}x{size[1]}-{scheme}-{language}.png"
            page.screenshot(path=folder / name)
        context.close()


def visit(page: Page, *, is_left: bool) -> Iterator[str]:
    """Walk through a survey; at each step that is to be pictured, yield its name."""
    yield "start"
    page.locator("#start").click()
    page.locator("main .eyebrow").wait_for()
    isnt_shown = True
    while not page.locator("dl.checks").count():
        if isnt_shown and page.locator("fieldset .odds").count():
            yield "question"
            isnt_shown = False
        answer(page)
    yield "check"
    page.locator("main > .button").last.click()
    page.locator(".over details summary").wait_for()
    yield "thanks"
    page.locator(".over details summary").click()
    yield "receipt"
    if is_left:
        page.locator("#exit").click()
        page.wait_for_url(EXIT)
        yield "left"


def answer(page: Page) -> None:
    """Answer one question with its first row, or with 7, and continue."""
    row = page.locator("button.choice").first
    if row.count():
        row.press("Enter")  # a page ignores a click right after another
        return
    field = page.locator("main input").first
    if field.count():
        kind = field.get_attribute("type")
        field.check() if kind in ("radio", "checkbox") else field.fill("7")
    page.locator("main > .button").first.click()


def new_context(
    browser: Browser, size: tuple[int, int], scheme: Literal["light", "dark"], language: str
) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        locale="zh-CN" if language == "zh-hans" else language,
        timezone_id="UTC",
    )
    context.route(f"{EXIT}**", lambda route: route.fulfill(body="A neutral page"))
    return context


if __name__ == "__main__":
    main()
