"""A survey whose questions decide on one another, and reports to it with random codes."""

from __future__ import annotations

import random
from dataclasses import replace

from privacy.mechanism.drawing import draw_blocks
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from surveys.manifest.rules import Rule
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.manifests import make_manifest


def ask(name: str, kind: QuestionType, options: int = 0, **details: object) -> ManifestQuestion:
    first = 1 if kind == QuestionType.SEVERAL else 0
    given: dict[str, object] = {
        "options": tuple(
            Option(code=code, text=str(code)) for code in range(first, first + options)
        )
    }
    if kind == QuestionType.YES_NO:
        given["options"] = YES_NO
    if kind == QuestionType.FOLLOW_UP:
        given |= {"options": FOLLOW_UP, "follow_up": "Often?"}
    question = ManifestQuestion(name=name, type=kind, text=f"{name}?", **(given | details))  # type: ignore[arg-type]
    return with_strength(question, flips=25)


def yes(name: str, *codes: int) -> Rule:
    return {"name": name, "is": list(codes or (1,))}


KIND = QuestionType
ROUTED = make_manifest(
    ask("q1", KIND.YES_NO, refusal=True),
    ask("q2", KIND.CHOICE, 4, rule=yes("q1")),
    # The rule of q3 reads q2, which has a rule itself.
    ask("q3", KIND.SEVERAL, 3, rule=yes("q2", 0, 3), refusal=True),
    ask("q4", KIND.DECLARED, 3),
    ask("q5", KIND.FOLLOW_UP, rule={"any": [{"not": yes("q3_2")}, yes("q4", 2)]}),
    ask("q6", KIND.SEVERAL, 2, refusal=True),
    ask(
        "q7",
        KIND.YES_NO,
        rule={"all": [yes("q6_1"), {"any": [yes("q5", 1), yes("q5", 1, 2)]}, yes("q4", 0, 1)]},
    ),
    ask("q8", KIND.YES_NO),
    ask("q9", KIND.NUMBER, minimum=0, maximum=20, rule=yes("q8"), refusal=True),
    ask("q10", KIND.SEVERAL, 2),
)
SUBSET = replace(ROUTED, drawn=1)


def draw_reports(manifest: Manifest, *, size: int = 300, seed: int = 36) -> list[bytes]:
    """Draw reports whose codes are all equally likely."""
    generator = random.Random(seed)
    reports = []
    for _ in range(size):
        blocks: set[int | None] | None = None
        if manifest.drawn is not None:
            blocks = {
                None,
                *draw_blocks(
                    manifest.block_count,
                    drawn=manifest.drawn,
                    random_uint32=lambda: generator.getrandbits(32),
                ),
            }
        reports.append(
            bytes(
                generator.randrange(symbol.k)
                if blocks is None or symbol.block in blocks
                else NOT_DRAWN
                for symbol in manifest.symbols
            )
        )
    return reports
