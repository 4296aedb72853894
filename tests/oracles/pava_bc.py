"""Oracle of PAVA-BC as the method page states it, on one (positives, count) per distinct score."""

from fractions import Fraction


def blocks(values, n_min, n_max):
    """Return the blocks as lists of positions."""
    tail, tail_size = [], 0
    body = list(range(len(values)))
    while body and tail_size < n_min:
        tail.insert(0, body.pop())
        tail_size += values[tail[0]][1]
    stack = []
    for position in body:
        stack.append([position])
        while len(stack) > 1:
            previous, last = stack[-2:]
            if size(values, previous) >= n_min:
                if size(values, previous) + size(values, last) > n_max:
                    break
                if mean(values, previous) < mean(values, last):
                    break
            stack[-2:] = [previous + last]
    joins = stack and (size(values, stack[-1]) < n_min or size(values, stack[-1]) + tail_size <= n_max)
    if joins:
        stack[-1] += tail
    elif tail:
        stack.append(tail)
    return stack


def size(values, block):
    return sum(values[position][1] for position in block)


def mean(values, block):
    return Fraction(sum(values[position][0] for position in block), size(values, block))
