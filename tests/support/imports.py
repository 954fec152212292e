"""Find the imports of a module in its source."""

from __future__ import annotations

import ast
from functools import cache


@cache
def imports_of(source: str) -> set[str]:
    """Return the absolute names of imported modules, and of what is imported from them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
