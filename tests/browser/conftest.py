"""Fixtures of all browser tests."""

from tests.browser.live import live, live_server_process

__all__ = ["live", "live_server_process"]
