"""What was measured as Markdown, with the bounds beside the figures."""

SCALE = 1e6


def markdown(found):
    """The page of a run's findings, which are those of its JSON."""
    machine = found["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB; {versions}; "
        f"{machine['date']}.",
        "",
        "Ratios: medians over pairs of whole processes run in turn. A bound that is not met is marked **!**.",
        "",
        "| command | rows | scores | seconds | x | at most | yardstick | peak MB | at most |",
        "|---|--:|---|--:|--:|--:|---|--:|--:|",
        *(_row(row) for row in found["rows"]),
    ]
    if found["slopes"]:
        lines += ["", "| command | scores | rows | slope of log time | at most |", "|---|---|---|--:|--:|"]
        lines += [_slope(each) for each in found["slopes"]]
    if found["others"]:
        lines += ["", "| other processes | seconds | x | yardstick | peak MB |", "|---|--:|--:|---|--:|"]
        lines += [
            f"| {each['what']} | {each['seconds']:.2f} | {each['ratio']:.2f} | {each['yardstick']} | "
            f"{each['memory'] / SCALE:.0f} |"
            for each in found["others"]
        ]
    if found["steps"]:
        lines += ["", "| inside one process | at most | measured |", "|---|---|--:|"]
        lines += [f"| {each['what']} | {each['bound']} | {each['measured']} |" for each in found["steps"]]
    return "\n".join([*lines, ""])


def _row(row):
    cells = [
        row["command"],
        f"{row['rows']:,}",
        f"{row['ties']}, {row['dtype']}",
        f"{row['seconds']:.2f}",
        _held(row["ratio"], row["most_ratio"], ".2f"),
        "" if row["most_ratio"] is None else f"{row['most_ratio']:g}",
        f"{row['yardstick']} {row['yardstick_seconds']:.2f} s",
        _held(row["memory"], row["most_memory"], ".0f", SCALE),
        "" if row["most_memory"] is None else f"{row['most_memory'] / SCALE:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _slope(each):
    sizes = f"{each['from']:,} to {each['to']:,}"
    shown = _held(each["slope"], each["most"], ".2f")
    return f"| {each['command']} | {each['ties']} | {sizes} | {shown} | {each['most']:g} |"


def _held(value, most, form, scale=1):
    shown = format(value / scale, form)
    return f"**{shown} !**" if most is not None and value > most else shown
