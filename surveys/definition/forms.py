"""The forms that take a definition as a file, as text, or from another survey."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from surveys.definition.parsing import parse_definition
from surveys.models import Survey

# With the rest of the form, this stays below DATA_UPLOAD_MAX_MEMORY_SIZE, the limit for a form.
MOST_KILOBYTES = 900


class DefinitionForm(forms.Form):
    file = forms.FileField(
        label="File",
        required=False,
        error_messages={"empty": "The file is empty. Choose another one."},
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    text = forms.CharField(
        label="Or its text",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto", "spellcheck": "false"}),
    )

    def clean_file(self) -> bytes:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        if file is None:
            return b""
        self._check_size(file.size or 0)
        return bytes(file.read())

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        self._check_size(len(text.encode(errors="surrogatepass")))
        return text

    def _check_size(self, size: int) -> None:
        if size > 1000 * MOST_KILOBYTES:
            raise ValidationError(
                f"The definition is larger than {MOST_KILOBYTES} kB. Ask the operator to import it."
            )

    def clean(self) -> None:
        given = [name for name in self.fields if self.cleaned_data.get(name)]
        if not self.errors and len(given) != 1:
            self.add_error(None, self._describe_choice(given))

    def _describe_choice(self, given: list[str]) -> str:
        return f"Choose a file or paste its text{', not both' if given else ''}."

    @property
    def content(self) -> bytes:
        """The bytes of the file, or of the text if there is no file."""
        found: bytes = self.cleaned_data["file"]
        return found or self.cleaned_data["text"].encode(errors="surrogatepass")

    def parse(self) -> Any:
        """Parse the definition. May raise InvalidDefinition."""
        return parse_definition(self.content)


class ComparisonForm(DefinitionForm):
    """The form for a comparison. `surveys` are those with which a survey can be compared."""

    other = forms.ChoiceField(label="Another survey", required=False)
    field_order = ("other", "file", "text")

    def __init__(self, *args: Any, surveys: list[Survey], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].label, self.fields["text"].label = "Or a file", "Or its text"
        field = self.fields["other"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "–"), *((one.slug, f"{one.title} ({one.slug})") for one in surveys)]

    def _describe_choice(self, given: list[str]) -> str:
        return "Choose one of the three, not several." if given else "Choose a survey or a file."
