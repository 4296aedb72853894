"""Oracle of PAVA-BC as the method page states it, on lists of (positives, count)."""

from fractions import Fraction


def blocks(atoms, n_min, n_max):
    """Return the blocks as lists of atom positions."""
    tail, tail_size = [], 0
    body = list(range(len(atoms)))
    while body and tail_size < n_min:
        tail.insert(0, body.pop())
        tail_size += atoms[tail[0]][1]
    stack = []
    for atom in body:
        stack.append([atom])
        while len(stack) > 1:
            previous, last = stack[-2:]
            if size(atoms, previous) >= n_min:
                if size(atoms, previous) + size(atoms, last) > n_max:
                    break
                if mean(atoms, previous) < mean(atoms, last):
                    break
            stack[-2:] = [previous + last]
    joins = stack and (size(atoms, stack[-1]) < n_min or size(atoms, stack[-1]) + tail_size <= n_max)
    if joins:
        stack[-1] += tail
    elif tail:
        stack.append(tail)
    return stack


def size(atoms, block):
    return sum(atoms[atom][1] for atom in block)


def mean(atoms, block):
    return Fraction(sum(atoms[atom][0] for atom in block), size(atoms, block))
