"""Fixtures of all browser tests."""

from tests.support.browser.live import live, live_server_process
from tests.support.browser.visit import chromium, one_chromium, visitor

__all__ = ["chromium", "live", "live_server_process", "one_chromium", "visitor"]
