"""The form that adds a language to a survey, and the form for the translations into a language."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.db import models

from surveys.authoring.translations import describe_difference
from surveys.form_fields import PlainText
from surveys.manifest.languages import (
    INFORMATION_TEXT,
    NAMES,
    WORDS,
    SourceText,
    direction,
    language_tag,
    name_language,
)
from surveys.models import (
    MAX_ITEM_LENGTH,
    MAX_OPTION_LENGTH,
    MAX_SCORED_OPTION_LENGTH,
    Question,
    Survey,
)

# The names of all translation fields begin with this prefix, so that error pages find them.
PREFIX = "words-"
_LONG = ("text", "follow_up")
# The fields that authors fill in with lists, and the longest allowed entry of each.
_LINES = {
    "options": MAX_OPTION_LENGTH,
    "scored_items": MAX_ITEM_LENGTH,
    "scored_options": MAX_SCORED_OPTION_LENGTH,
}


def field_name(text: str) -> str:
    """Derive a field's name from its text, so that no translation is stored for the wrong text."""
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:16]


class LanguageForm(forms.Form):
    language = forms.ChoiceField(
        label="Add a language",
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), "Choose one of the languages in the list."
        ),
    )

    def __init__(self, data: Any = None, *, taken: Sequence[str]) -> None:
        super().__init__(data)
        field = self.fields["language"]
        assert isinstance(field, forms.ChoiceField)
        left = [(code, own_name) for code, own_name in NAMES.items() if code not in taken]
        field.choices = [(code, _name_both(code, own_name)) for code, own_name in left]
        self.is_useful = bool(left)


def _name_both(code: str, own_name: str) -> str:
    name = name_language(code)
    return name if name == own_name else f"{name} ({own_name})"


class TranslationForm(forms.Form):
    """A form with a field for each text to translate.

    `texts` maps texts to their translations so far. `own` maps the answers that Murmur provides in
    this survey to their translations. Authors can save empty translations, but cannot open the
    survey while any are missing.
    """

    def __init__(
        self,
        data: Any = None,
        *,
        sources: Sequence[SourceText],
        language: str,
        texts: Mapping[str, str],
        own: Mapping[str, str],
    ) -> None:
        self.own = own
        self.sources = {field_name(source.text): source for source in sources}
        initial = {name: texts.get(source.text, "") for name, source in self.sources.items()}
        if data is not None:
            # Keep the translations of texts that were added while the page was open.
            data = data.copy()
            for name, words in initial.items():
                data.setdefault(name, words)
        super().__init__(data, initial=initial)
        for name, source in self.sources.items():
            self.fields[name] = _make_field(source, language)

    def clean(self) -> None:
        for name, source in self.sources.items():
            problem = describe_difference(source, self.cleaned_data.get(name, ""), self.own)
            if problem:
                self.add_error(name, problem)

    @property
    def rows(self) -> Iterator[tuple[SourceText, forms.BoundField]]:
        for name, source in self.sources.items():
            yield source, self[name]

    @property
    def typed_texts(self) -> dict[str, str]:
        """The translations, keyed by the original texts."""
        return {source.text: self.cleaned_data[name] for name, source in self.sources.items()}


def _make_field(source: SourceText, language: str) -> PlainText:
    attrs: dict[str, Any] = {"lang": language_tag(language), "dir": direction(language)}
    kinds = set(source.kinds)
    with_lines = set(filter(_has_lines, kinds))
    widget: forms.Widget = forms.TextInput(attrs=attrs)
    if with_lines or not kinds.isdisjoint(_LONG):
        widget = forms.Textarea(attrs={**attrs, "rows": 4 if with_lines else 2})
    return PlainText(
        name=f"translation of {source.place[0].lower()}{source.place[1:]}",
        missing="",
        # The same text can appear in several places, and its translation must fit all of them.
        max_length=min(map(_find_limit, kinds)),
        required=False,
        lines=kinds == with_lines,
        label=source.place,
        help_text=source.text,  # shown as the description; the template escapes it
        widget=widget,
    )


def _has_lines(kind: str) -> bool:
    """Return whether texts of this kind may have line breaks; question texts may not."""
    return kind == INFORMATION_TEXT or isinstance(_find_stored(kind), models.TextField)


def _find_limit(kind: str) -> int:
    if kind in _LINES:
        return _LINES[kind]
    field = _find_stored(kind)
    assert isinstance(field, models.CharField | models.TextField)
    assert field.max_length is not None
    return field.max_length


def _find_stored(kind: str) -> object:
    """Return the model field that stores texts of this kind."""
    owner: type[models.Model] = Survey if kind in WORDS else Question
    return owner._meta.get_field("text" if kind == INFORMATION_TEXT else kind)
