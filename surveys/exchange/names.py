"""The names of imported questions: the names in the file, changed as Murmur's rules require."""

from __future__ import annotations

from surveys.authoring.variable_names import conform_name, suggest_name
from surveys.manifest.names import MAX_SOURCE_LENGTH


class Names:
    """Chooses names in order. `by_key` maps the keys of questions to their names."""

    def __init__(self) -> None:
        self.by_key: dict[str, str] = {}

    def choose(self, key: str, source: str, text: str) -> dict[str, str]:
        """Return the `name` of a question, and the `source_name` if the file's name differs."""
        source = "".join(filter(str.isprintable, source))
        taken = self.by_key.values()
        name = conform_name(source, taken=taken) if source else suggest_name(text, taken=taken)
        self.by_key[key] = name
        kept = source[:MAX_SOURCE_LENGTH]
        return {"name": name} | ({"source_name": kept} if kept and kept != name else {})
