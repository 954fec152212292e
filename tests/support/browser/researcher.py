"""A researcher's browser on the results pages."""

from __future__ import annotations

from playwright.sync_api import Browser, BrowserContext, Page

from surveys.models import Survey
from tests.support.browser.live import LiveApplication
from tests.support.fielding import sign_in

# The page itself collects violations, because some occur before our listeners are attached.
WATCH_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
"""
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


class Reader:
    """A researcher's browser tab, and everything that went wrong in it."""

    def __init__(self, page: Page, live: LiveApplication) -> None:
        self.page = page
        self.live = live
        self.messages: list[str] = []
        self.foreign: list[str] = []
        page.add_init_script(WATCH_VIOLATIONS)
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("request", lambda request: self._note_request(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.messages.append(text)

    def _note_request(self, url: str) -> None:
        if not url.startswith((self.live.url, "data:")):
            self.foreign.append(url)

    def open(self, survey: Survey) -> Page:
        self.page.goto(f"{self.live.url}/surveys/{survey.slug}/results")
        return self.page

    def assert_nothing_went_wrong(self) -> None:
        assert self.page.evaluate("window.violations") == []
        assert self.messages == []
        assert self.foreign == []


def make_context(
    chromium: Browser, live: LiveApplication, survey: Survey, **options: object
) -> BrowserContext:
    """Open a context in which the owner of the survey is signed in."""
    context = chromium.new_context(**{"viewport": DESK, **options})  # type: ignore[arg-type]
    session = sign_in(survey.owner).cookies["session"].value
    context.add_cookies([{"name": "session", "value": session, "url": live.url}])
    return context
