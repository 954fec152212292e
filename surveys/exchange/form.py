"""The form for uploading another program's questionnaire, and the largest size that it accepts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

MAX_MEGABYTES = 2


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="An XLSForm (.xlsx or .xls) or a REDCap data dictionary (.csv), up to "
        f"{MAX_MEGABYTES} MB.",
        error_messages={
            "required": "Choose a file.",
            "empty": "The file is empty. Choose another one.",
        },
        widget=forms.ClearableFileInput(attrs={"accept": ".xlsx,.xlsm,.xls,.csv"}),
    )

    def clean_file(self) -> UploadedFile[Any]:
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_MEGABYTES * 1_000_000:
            raise ValidationError(
                f"The file is larger than {MAX_MEGABYTES} MB. Delete pictures and other sheets."
            )
        return file
