"""The form for a file of translations. On the preview page, a hidden field contains its text."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from surveys.authoring.translating.tables import Unreadable, decode, normalize, read_table


class TranslationFileForm(forms.Form):
    file = forms.FileField(
        label="File with translations",
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,text/csv"}),
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = {**self.cleaned_data}
        upload, text = cleaned.get("file"), normalize(cleaned.get("text", ""))
        try:
            if upload is not None:
                text = decode(upload.read())
            if not text.strip():
                raise Unreadable("Choose a CSV file.")
            read_table(text)
        except Unreadable as error:
            raise ValidationError({"file": str(error)}) from None
        return {**cleaned, "text": text}
