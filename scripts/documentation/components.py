"""Lists, as CycloneDX JSON, the software that Murmur needs; `scripts/sbom` calls it.

The pinned lists name the packages. Installed wheels name their licences and parts: some list crates
and libraries; others contain shared libraries, programs, or paths of Rust crates that a compiler
left behind. Only the standard library is needed.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePath
from typing import Any

from scripts.stack.stack import ROOT

Component = dict[str, Any]
# The files of requirements, and whether production needs their packages.
LISTS = {"requirements.txt": "required", "requirements-embedded.txt": "optional"}
_PIN = re.compile(r"([\w.-]+)==(\S+)")
_HASH = re.compile(r"--hash=sha256:(\w{64})")
_ELF = b"\x7fELF"
_EXTENSION = re.compile(r"\.(cpython-[\w-]+|abi3)\.so$")
# For example libpq-e9b5c9ac.so.5.18.
_LIBRARY = re.compile(
    r"(?P<name>\w+?)-+[0-9a-f]{8}(?:-[0-9a-f]{8})?\.so(?:\.(?P<version>[\d.]+))?$"
)
# Some libraries contain a more exact version than their names.
_VERSIONS = re.compile(rb"(?:OpenSSL|OpenBLAS) (\d+\.\d+\.\d+)|krb5-(\d+\.\d+(?:\.\d+)?)-final")
_CRATE = re.compile(rb"/registry/src/[^/]+/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+(?:[-+][\w.]+)?)/")
# The metadata in this package's wheel names no licence, but the wheel contains the licence's text.
_READ = {"pyxform": "BSD-2-Clause"}
_MOST_LETTERS = 80  # of a licence's name; some packages have the whole text there
UNKNOWN = "compiled code that may contain libraries which the wheel does not list"


def main() -> None:
    written = json.dumps(list_components(), ensure_ascii=False, indent=1) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(written, encoding="utf-8")
    else:
        sys.stdout.write(written)


def list_components() -> dict[str, Any]:
    installed = {_normalize(found.metadata["Name"]): found for found in distributions()}
    components: dict[str, Component] = {}
    for file, scope in LISTS.items():
        for name, version, hashes in _read_pins(ROOT / file):
            found = installed.get(_normalize(name))
            if found is not None and found.version != version:
                raise SystemExit(f"{name} {found.version} is installed, but {file} pins {version}.")
            # A package in both lists is needed in production.
            described = _describe(name, version, hashes, found)
            components.setdefault(name, {**described, "scope": scope})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "murmur", "bom-ref": "murmur"}},
        "components": [*components.values(), *_list_fonts()],
    }


def _read_pins(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name, version and hashes of each package in a list."""
    for block in re.split(r"\n(?=[\w.-]+==)", path.read_text("utf-8")):
        if pinned := _PIN.match(block):
            yield pinned[1], pinned[2], _HASH.findall(block)


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe(name: str, version: str, hashes: list[str], found: Distribution | None) -> Component:
    purl = f"pkg:pypi/{name}@{version}"
    described: Component = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "externalReferences": [
            {
                "type": "distribution",
                "url": purl,
                "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
            }
        ],
    }
    if found is None:  # only another Python version or operating system needs it
        return described
    if licence := _find_licence(found):
        described["licenses"] = licence
    files = [Path(str(found.locate_file(file))) for file in found.files or []]
    lists = [file for file in files if file.parent.name == "sboms"]
    carried = {
        part["purl"]: part
        for file in lists
        for part in _read_list(file)
        if _normalize(part["name"]) != _normalize(name)
    }
    is_unknown = False
    for file in files:
        if not file.is_file() or not _is_binary(file):
            continue
        if not _EXTENSION.search(file.name):
            part = _describe_binary(file)
            carried[part["purl"]] = part
        elif not lists:
            crates = {part["purl"]: part for part in _find_crates(file)}
            carried |= crates
            is_unknown = is_unknown or not crates
    if carried:
        described["components"] = [
            {**part, "bom-ref": f"{purl}#{ref}"} for ref, part in sorted(carried.items())
        ]
    if is_unknown:
        described["properties"] = [{"name": "murmur:carries", "value": UNKNOWN}]
    return described


def _find_licence(found: Distribution) -> list[dict[str, Any]]:
    said = found.metadata
    for expression in said.get_all("License-Expression", []):
        return [{"expression": expression}]
    name = next(iter(said.get_all("License", [])), "").strip()
    classified = [
        line.rpartition(" :: ")[2]
        for line in said.get_all("Classifier", [])
        if line.startswith("License :: OSI Approved :: ")
    ]
    if read := _READ.get(found.name):
        return [{"expression": read}]
    names = [name] if name and len(name) <= _MOST_LETTERS and "\n" not in name else classified
    return [{"license": {"name": each}} for each in names]


def _read_list(file: Path) -> Iterator[Component]:
    """Yield the parts that a wheel itself lists."""
    for part in json.loads(file.read_text("utf-8")).get("components", []):
        if "purl" in part and part.get("scope") != "excluded":
            kept = ("type", "name", "version", "purl", "licenses", "hashes")
            yield {key: part[key] for key in kept if key in part}


def _is_binary(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_ELF)) == _ELF


def _describe_binary(file: Path) -> Component:
    """Describe a shared library or program, with the version from its name or its content."""
    content = file.read_bytes()
    named = _LIBRARY.match(file.name)
    name = named["name"].strip("_") if named else PurePath(file.name).name
    told = _VERSIONS.search(content)
    version = (told[1] or told[2]).decode() if told else named and named["version"]
    part: Component = {"type": "library" if named else "application", "name": name}
    if version:
        part["version"] = version
    part["purl"] = f"pkg:generic/{name}" + (f"@{version}" if version else "")
    part["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
    return part


def _find_crates(file: Path) -> Iterator[Component]:
    for name, version in set(_CRATE.findall(file.read_bytes())):
        crate, number = name.decode(), version.decode()
        yield {
            "type": "library",
            "name": crate,
            "version": number,
            "purl": f"pkg:cargo/{crate}@{number}",
        }


def _list_fonts() -> Iterator[Component]:
    """Yield the fonts in the repository."""
    folder = ROOT / "aggregator" / "typesetting" / "fonts"
    for font in sorted(folder.glob("*.tt[fc]")):
        licence = "Apache-2.0" if font.suffix == ".ttc" else "OFL-1.1"
        yield {
            "type": "file",
            "bom-ref": f"font:{font.name}",
            "name": font.name,
            "scope": "required",
            "licenses": [{"license": {"id": licence}}],
            "hashes": [
                {"alg": "SHA-256", "content": hashlib.sha256(font.read_bytes()).hexdigest()}
            ],
        }


if __name__ == "__main__":
    main()
