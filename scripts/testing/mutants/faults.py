"""Lists small faults that a module could have: its mutants."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass

# The kinds of faults, the worst first.
KINDS = (
    *("decorator", "deleted", "boolean", "comparison"),
    *("arguments", "returned", "arithmetic", "constant"),
)
# If one of these decorators is removed, either no test or every test notices.
KEPT = ("dataclass", "cache", "lru_cache", "wraps", "property", "classmethod", "staticmethod")
PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn)),
    *((ast.Is, ast.IsNot), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div)),
]
OTHER = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
OTHER |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
Place = ast.stmt | ast.expr


@dataclass(frozen=True, kw_only=True)
class Mutant:
    area: str
    path: str
    function: str  # with its class; empty outside of both
    line: int
    kind: str
    before: str
    after: str
    place: int  # number among mutants with the same function and texts
    start: int  # where `before` starts, in bytes
    lines: tuple[int, ...]  # tests that ran one of these lines run on this mutant
    outcome: str = "not run"
    killer: str = ""

    def apply(self, source: bytes) -> bytes:
        end = self.start + len(self.before.encode())
        return source[: self.start] + self.after.encode() + source[end:]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after or "nothing"))
        where = f"{self.outcome:9} {self.area:11} {self.path}:{self.line} {self.function}"
        return f"{where}\n    {before:.90}  →  {after:.90}  {self.killer}"


def list_mutants(source: bytes, *, area: str, path: str) -> Iterator[Mutant]:
    """List the mutants of a module that compile."""
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    # Code outside of functions runs at import, so every test of the module runs it.
    everywhere = range(1, len(lines) + 1)
    same: Counter[tuple[str, str, str]] = Counter()
    for kind, function, ran, place, after in _walk(ast.parse(source), "", everywhere, False):
        start = starts[place.lineno - 1] + place.col_offset - (kind == "decorator")  # its @
        end = starts[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
        before = source[start:end].decode()
        text = after if isinstance(after, str) else f"({ast.unparse(after)})"
        same[function, before, text] += 1
        mutant = Mutant(
            area=area,
            path=path,
            function=function,
            line=place.lineno,
            kind=kind,
            before=before,
            after=text,
            place=same[function, before, text],
            start=start,
            lines=tuple(ran),
        )
        try:
            compile(mutant.apply(source), path, "exec")
        except SyntaxError:
            continue
        yield mutant


def _walk(
    node: ast.AST, function: str, lines: Iterable[int], is_inside: bool
) -> Iterator[tuple[str, str, Iterable[int], Place, ast.AST | str]]:
    """Walk through code that runs, with the lines of its statement or function."""
    if is_inside and isinstance(node, ast.stmt):
        lines = _list_lines(node)
    for kind, place, after in _list_faults(node):
        yield kind, function, lines, place, after
    children: Iterable[ast.AST | None] = ast.iter_child_nodes(node)
    match node:
        case ast.JoinedStr():  # positions in f-strings are wrong before Python 3.12
            children = ()
        case ast.AnnAssign():
            children = [node.value]
        case ast.ClassDef():
            function, children, is_inside = f"{function}.{node.name}".lstrip("."), node.body, False
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            function, is_inside = f"{function}.{node.name}".lstrip("."), True
            children = [*node.args.defaults, *node.args.kw_defaults, *node.body]
            lines = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            for one in node.decorator_list:
                if ast.unparse(one).partition("(")[0].rpartition(".")[2] not in KEPT:
                    yield "decorator", function, lines, one, ""
    for child in filter(None, children):
        yield from _walk(child, function, lines, is_inside)


def _list_lines(node: ast.stmt) -> Iterable[int]:
    """List the lines of a statement without those of inner statements."""
    inner = [one.lineno for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
    return range(
        node.lineno, max(node.lineno, min(inner, default=(node.end_lineno or 0) + 1) - 1) + 1
    )


def _list_faults(node: ast.AST) -> Iterator[tuple[str, Place, ast.AST | str]]:
    """List faults at a node: the kind, the replaced node and its replacement."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                ops = [*node.ops[:place], OTHER[type(operator)](), *node.ops[place + 1 :]]
                yield "comparison", node, _change(node, ops=ops)
        case ast.BinOp(left=left, right=right) if type(node.op) in OTHER:
            if not any(_is_text(one) for one in (left, right)):
                yield "arithmetic", node, _change(node, op=OTHER[type(node.op)]())
        case ast.BoolOp():
            yield "boolean", node, _change(node, op=OTHER[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield "boolean", node, node.operand
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if isinstance(
            test, ast.Name | ast.Attribute | ast.Call
        ):
            yield "boolean", test, ast.UnaryOp(op=ast.Not(), operand=test)
        case ast.Constant(value=bool() as value):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", node, ast.Constant(value + 1)
            yield "constant", node, ast.Constant(value - 1)
        case ast.Call(args=[first, second, *others]) if ast.dump(first) != ast.dump(second):
            yield "arguments", node, _change(node, args=[second, first, *others])
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "returned", node, "return None"
        case ast.Raise() | ast.AugAssign() | ast.Continue():
            yield "deleted", node, "pass"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "deleted", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "deleted", node, "pass"


def _is_text(node: ast.AST) -> bool:
    """Return whether arithmetic with this node fails in every test."""
    return isinstance(node, ast.JoinedStr | ast.Constant) and not isinstance(
        getattr(node, "value", None), int | float
    )


def _change(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy(node)
    vars(changed).update(fields)
    return changed
