"""Mutations of bytes, JSON values and command lines, drawn from one generator."""

import json
from typing import Any

import numpy as np

Random = np.random.Generator

TOKENS = (
    b"", b",", b"\n", b"\r\n", b'"', b'""', b"\x00", b"\xff", b"nan", b"inf", b"-0.0", b"1e999", b"1e-400",
    b"\xef\xbb\xbf", b";", b"\t", b"true", b"NULL", b"0.5", b"9" * 40, "é".encode(), b"\r",
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 0.5, -0.5, 1e308, -1e308, 5e-324, 2**63, 2**64, 10**30, "", "x", "0.5",
    "1e-99999999", [], {}, [1], [[1]], {"a": 1}, "nan", "\u202e", "p_*", "x" * 5000, "\x00", "::error::x",
    json.loads("[" * 90 + "]" * 90), "9" * 5000, [0] * 2000,
)  # fmt: skip

TEXTS = (
    "", "0", "1", "-1", "0.5", "0.999", "1e-99999999", "1e99999999", "nan", "inf", "5%", "200%", "a,b",
    "p_*", "*", "score", "uncertainty", "label", "g", "all", "x" * 300, "0.5,0.5", "1=0.2", ";", "tab",
    "[/red]", "\x1b[31m", "18446744073709551615", "18446744073709551616", "1000000", "10000001", "3", "7",
    "precision > 0.1", "tce<1",
)  # fmt: skip


def pick(random: Random, items: Any) -> Any:
    """Draw one of the items."""
    return items[int(random.integers(len(items)))]


def mutated_bytes(random: Random, content: bytes) -> bytes:
    """Change, remove or repeat some bytes, or insert tokens."""
    changed = bytearray(content)
    for _ in range(1 + int(random.exponential())):
        position = int(random.integers(len(changed) + 1))
        match int(random.integers(6)):
            case 0:
                del changed[position:]
            case 1:
                changed[position:position] = pick(random, TOKENS)
            case 2:
                del changed[position : position + int(random.integers(1, 40))]
            case 3:
                changed[position:position] = changed[position : position + int(random.integers(1, 60))]
            case 4:
                changed[position : position + 4] = b"\xff" * 4
            case _:
                changed[position : position + 1] = random.bytes(1)
    return bytes(changed)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, item in inner for inner_path in _paths(item, (*path, key)))]


def mutated_json(random: Random, content: bytes) -> bytes:
    """Replace, remove, repeat or reorder some values of JSON."""
    value = json.loads(content)
    for _ in range(1 + int(random.exponential(0.5))):
        path = pick(random, [inner_path for inner_path in _paths(value) if inner_path] or [()])
        if not path:
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        key_or_index = path[-1]
        match int(random.integers(5)):
            case 0:
                del parent[key_or_index]
            case 1 if isinstance(parent, list):
                parent.insert(key_or_index, parent[key_or_index])
            case 2 if isinstance(parent[key_or_index], int | float):
                parent[key_or_index] = parent[key_or_index] * pick(random, (0.5, 2, -1)) + pick(
                    random, (0, 1, 0.01)
                )
            case 3 if isinstance(parent, list):
                parent.reverse()
            case _:
                parent[key_or_index] = pick(random, VALUES)
    return json.dumps(value).encode()


def mutated_line(random: Random, line: list[str], options: list[str]) -> list[str]:
    """Insert options, replace values or remove parts of a command line."""
    changed = list(line)
    for _ in range(1 + int(random.exponential())):
        position = int(random.integers(1, len(changed) + 1))
        match int(random.integers(5)):
            case 0 if len(changed) > 2:
                del changed[position - 1 : position]
            case 1:
                changed[position:position] = [pick(random, options)]
            case 2:
                changed[position:position] = [pick(random, TEXTS)]
            case _:
                changed += [pick(random, options), pick(random, TEXTS)]
    return changed


def mutated_toml(random: Random, command: str, options: list[str]) -> bytes:
    """Write a configuration of one command with options of any type."""
    lines = [f"[{command}]"] if random.random() < 0.9 else []
    for _ in range(1 + int(random.exponential(0.5))):
        value = pick(random, VALUES) if random.random() < 0.5 else pick(random, TEXTS)
        lines.append(f"{pick(random, options).removeprefix('--')} = {_toml(value)}")
    content = "\n".join(lines).encode("utf-8", "replace")
    return mutated_bytes(random, content) if random.random() < 0.2 else content


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return '""' if value is None else json.dumps(value)
