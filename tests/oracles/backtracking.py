"""A matcher of regular expressions that counts its steps, on the syntax tree that Python makes of them.

It backtracks as the real matcher does, without its shortcuts, so that a pattern that needs quadratic time
there needs quadratically many steps here.
"""

import re
from re import _constants as op
from re import _parser


class TooManySteps(Exception):  # noqa: N818 - the end of a search, no error
    """The limit of steps is reached."""


class Matcher:
    """Searches a text for a pattern and counts the steps."""

    def __init__(self, pattern, text, limit):
        compiled = re.compile(pattern) if isinstance(pattern, str | bytes) else pattern
        self.flags = compiled.flags
        self.tree = _parser.parse(compiled.pattern, compiled.flags)
        self.text = text.encode() if isinstance(compiled.pattern, bytes) else text
        self.limit = limit
        self.steps = 0

    def search(self):
        """Return the end of each non-overlapping match, as substitution does."""
        ends, start = [], 0
        while start <= len(self.text):
            end = next(self._match(list(self.tree), 0, start, {}), None)
            if end is not None:
                ends.append(end)
            start = max(start + 1, -1 if end is None else end)
        return ends

    def all_ends(self):
        """Return every end of a match at the beginning: a match of the whole text tries them all."""
        return [*self._match(list(self.tree), 0, 0, {})]

    def _step(self):
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps

    def _match(self, nodes, index, at, groups):
        """Yield the places where the nodes from ``index`` on can end."""
        self._step()
        if index == len(nodes):
            yield at
            return
        kind, value = nodes[index]
        name = str(kind)
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            least, most, body = value
            yield from self._repeat(nodes, index, at, groups, least, int(most), list(body), name)
        elif name == "BRANCH":
            for branch in value[1]:
                for end in self._match(list(branch), 0, at, groups):
                    yield from self._match(nodes, index + 1, end, groups)
        elif name == "SUBPATTERN":
            for end in self._match(list(value[3]), 0, at, groups):
                yield from self._match(nodes, index + 1, end, groups | {value[0]: (at, end)})
        elif name == "ATOMIC_GROUP":
            end = next(self._match(list(value), 0, at, groups), None)
            if end is not None:
                yield from self._match(nodes, index + 1, end, groups)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            direction, body = value
            width = _parser.SubPattern(_parser.State(), list(body)).getwidth()[1] if direction < 0 else 0
            holds = at >= width and next(self._match(list(body), 0, at - width, groups), None) is not None
            if holds is (name == "ASSERT"):
                yield from self._match(nodes, index + 1, at, groups)
        elif name == "GROUPREF":
            first, last = groups.get(value, (0, 0))
            copy = self.text[first:last]
            if self.text[at : at + len(copy)] == copy:
                yield from self._match(nodes, index + 1, at + len(copy), groups)
        elif name == "AT":
            if self._is_at(value, at):
                yield from self._match(nodes, index + 1, at, groups)
        elif at < len(self.text) and self._fits(kind, value, at):
            yield from self._match(nodes, index + 1, at + 1, groups)

    def _repeat(self, nodes, index, at, groups, least, most, body, name):
        """Try the longest repetition first, or the shortest; one character at a time keeps the stack flat."""
        ends = [at]
        if len(body) == 1 and str(body[0][0]) in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            while len(ends) <= most and ends[-1] < len(self.text) and self._fits(*body[0], ends[-1]):
                self._step()
                ends.append(ends[-1] + 1)
            ends = ends[least:]
        else:
            ends = [*self._ends(body, at, groups, least, most)]
        for end in ends if name == "MIN_REPEAT" else reversed(ends):
            yield from self._match(nodes, index + 1, end, groups)
            if name == "POSSESSIVE_REPEAT":
                return

    def _ends(self, body, at, groups, least, most):
        """List the ends of a repeated group, each once for every way to reach it, shortest first."""
        layer = [at]
        if least == 0:
            yield at
        for count in range(1, most + 1):
            layer = [end for start in layer for end in self._match(body, 0, start, groups) if end > start]
            if not layer:
                return
            if count >= least:
                yield from layer

    def _is_at(self, place, at):
        multiline = self.flags & re.MULTILINE
        if place in {op.AT_BEGINNING, op.AT_BEGINNING_STRING}:
            return at == 0 or bool(multiline and self.text[at - 1 : at] in {"\n", b"\n"})
        if place in {op.AT_END, op.AT_END_STRING}:
            return at >= len(self.text) - (self.text[-1:] in {"\n", b"\n"}) or bool(
                multiline and self.text[at : at + 1] in {"\n", b"\n"}
            )
        before, after = (self._is_word(self.text[i : i + 1]) if i >= 0 else False for i in (at - 1, at))
        return (before != after) is (place == op.AT_BOUNDARY)

    def _is_word(self, character):
        return bool(character) and self._is_of("WORD", chr(ord(character)))

    def _is_of(self, category, character):
        if (self.flags & re.ASCII or isinstance(self.text, bytes)) and not character.isascii():
            return False
        if category == "WORD":
            return character.isalnum() or character == "_"
        return character.isdecimal() if category == "DIGIT" else character.isspace()

    def _fits(self, kind, value, at):
        character = self.text[at]
        code = character if isinstance(character, int) else ord(character)
        return self._fits_code(str(kind), value, code)

    def _fits_code(self, name, value, code):
        character = chr(code)
        if name == "ANY":
            return bool(self.flags & re.DOTALL) or character != "\n"
        if name == "LITERAL":
            same = code == value
            if self.flags & re.IGNORECASE:
                same = character.lower() == chr(value).lower()
            return same
        if name == "NOT_LITERAL":
            return not self._fits_code("LITERAL", value, code)
        if name == "RANGE":
            low, high = value
            codes = {code, *map(ord, (character.lower()[0], character.upper()[0]))}
            return any(low <= each <= high for each in (codes if self.flags & re.IGNORECASE else {code}))
        if name == "CATEGORY":
            return self._is_of(str(value).split("_")[-1], character) is not ("NOT" in str(value))
        if name == "IN":
            negated = str(value[0][0]) == "NEGATE"
            fits = any(
                self._fits_code(str(kind), item, code) for kind, item in value if str(kind) != "NEGATE"
            )
            return fits is not negated
        raise NotImplementedError(name)
