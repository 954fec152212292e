"""The text box for pasted questions."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

MAX_LENGTH = 60_000
MAX_LINES = 2_000


class PasteForm(forms.Form):
    text = forms.CharField(
        label="Your text",
        strip=False,
        help_text="A line with a number or a question mark starts a question. Lines that begin "
        "with “- ”, or cells after a tab, are its answers. “1 never – 5 always” makes a scale, “0 "
        "to 30 days” a number. “(ask together)” after a question puts it on the page of the "
        "question before.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
        error_messages={"required": "Paste some questions."},
    )

    def clean_text(self) -> str:
        text = self.cleaned_data["text"].replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        # The field has no max_length, because browsers would cut the text silently.
        if len(text) > MAX_LENGTH or lines > MAX_LINES:
            raise ValidationError(
                f"The text has {len(text):,} characters in {lines:,} lines. Paste at most "
                f"{MAX_LENGTH:,} characters in {MAX_LINES:,} lines at a time."
            )
        if not text.strip():
            raise ValidationError("Paste some questions.")
        return str(text)
