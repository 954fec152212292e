"""The same visits in Chromium, Firefox and WebKit."""
