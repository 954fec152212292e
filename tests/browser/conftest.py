"""Fixtures of all browser tests."""

from tests.browser.live import live, live_server_process
from tests.browser.visit import chromium, visitor

__all__ = ["chromium", "live", "live_server_process", "visitor"]
