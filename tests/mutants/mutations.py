"""Draw mutations of the package: one operator, constant or condition of a line that default tests run."""

import ast
import random
from dataclasses import dataclass
from pathlib import Path

ROOMS = (
    *("estimates/*.py", "watch/*.py", "evaluate/*.py", "boundary/certif*.py", "boundary/search/*.py"),
    *("tce/*.py", "conformal/*.py", "shift/*.py", "overview/*.py"),
)
"""Files of what is printed with a level, as patterns in the package."""

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_OPERATIONS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_CALLS = {"min": "max", "max": "min", "all": "any", "any": "all"}


@dataclass(frozen=True)
class Mutation:
    """A mutation: the file in the package, the line, and the mutated source."""

    file: str
    line: int
    before: str
    after: str
    source: str


def drawn(package: Path, lines_run: dict[str, set[int]], number: int, seed: int) -> list[Mutation]:
    """Draw mutations of lines that tests run, without repetition; fewer if there are no more.

    Each file has a share by its places.
    """
    places = [
        (file, index)
        for file in sorted(lines_run)
        for index, place in enumerate(_places(ast.parse((package / file).read_text())))
        if place[0].lineno in lines_run[file]
    ]
    chosen = random.Random(seed).sample(places, min(number, len(places)))
    return [_mutated(package, file, index, seed) for file, index in chosen]


def _mutated(package: Path, file: str, index: int, seed: int) -> Mutation:
    text = (package / file).read_text()
    tree = ast.parse(text)
    node, change = _places(tree)[index]
    before = ast.unparse(node)
    change()
    after = ast.unparse(node)
    if after == before:  # the condition of a statement, which is negated around it
        after = f"not ({before})"
    return Mutation(file=file, line=node.lineno, before=before, after=after, source=ast.unparse(tree))


def _places(tree):
    """Return the nodes that can be changed, each with the function that changes it in place."""
    places = []
    for node in _code(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            places.append((node, _setter(node.ops, 0, _COMPARISONS[type(node.ops[0])]())))
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS and not _is_text(node):
            places.append((node, _attribute_setter(node, "op", _OPERATIONS[type(node.op)]())))
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            places.append((node, _attribute_setter(node, "op", other)))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            places.append((node, _attribute_setter(node, "op", ast.UAdd())))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = node.value + 1 if isinstance(node.value, int) else node.value * 2 or 1.0
            places.append((node, _attribute_setter(node, "value", value)))
        elif isinstance(node, ast.Name) and node.id in _CALLS:
            places.append((node, _attribute_setter(node, "id", _CALLS[node.id])))
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            negated = ast.UnaryOp(op=ast.Not(), operand=node.test)
            places.append((node.test, _attribute_setter(node, "test", ast.copy_location(negated, node.test))))
    return places


def _code(tree):
    """Walk over nodes without annotations and texts."""
    waiting = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.JoinedStr):
            continue
        yield node
        skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def _is_text(node):
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides
    )


def _setter(items, index, value):
    def change():
        items[index] = value

    return change


def _attribute_setter(node, name, value):
    return lambda: setattr(node, name, value)
