"""The page of the benchmarks: the results as Markdown, with their bounds."""

BYTES_PER_MB = 1e6


def markdown(results):
    """Format the results in the JSON file of a run as Markdown."""
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB; {versions}; "
        f"{machine['date']}.",
        "",
        "Ratios: medians over pairs of whole processes run in turn. A bound that is not met is marked **!**.",
        "",
        "| command | rows | scores | seconds | x | at most | baseline | peak MB | at most |",
        "|---|--:|---|--:|--:|--:|---|--:|--:|",
        *(_row(row) for row in results["rows"]),
    ]
    if results["slopes"]:
        lines += ["", "| command | scores | rows | slope of log time | at most |", "|---|---|---|--:|--:|"]
        lines += [_slope(slope) for slope in results["slopes"]]
    if results["scaling"]:
        lines += ["", "| command | rows | from | serial share | 90 % interval | at most |"]
        lines += ["|---|--:|---|--:|--:|--:|", *map(_scaling, results["scaling"])]
    if results["many"]:
        lines += ["", "| command | many | seconds | ms each | at most | x a tenth as many | at most |"]
        lines += ["|---|---|--:|--:|--:|--:|--:|", *map(_many, results["many"])]
    if results["objects"]:
        lines += [
            "",
            "| command | objects | seconds | at most | the same files here |",
            "|---|--:|--:|--:|--:|",
        ]
        lines += map(_objects, results["objects"])
    if results["others"]:
        lines += ["", "| other processes | seconds | x | baseline | peak MB |", "|---|--:|--:|---|--:|"]
        lines += [
            f"| {other['what']} | {other['seconds']:.2f} | {other['ratio']:.2f} | {other['baseline']} | "
            f"{other['memory'] / BYTES_PER_MB:.0f} |"
            for other in results["others"]
        ]
    if results["steps"]:
        lines += ["", "| inside one process | at most | measured |", "|---|---|--:|"]
        lines += [f"| {step['what']} | {step['bound']} | {step['measured']} |" for step in results["steps"]]
    return "\n".join([*lines, ""])


def _row(row):
    cells = [
        row["command"],
        f"{row['rows']:,}",
        f"{row['ties']}, {row['dtype']}",
        f"{row['seconds']:.2f}",
        _marked(row["ratio"], row["most_ratio"], ".2f"),
        "" if row["most_ratio"] is None else f"{row['most_ratio']:g}",
        f"{row['baseline']} {row['baseline_seconds']:.2f} s",
        _marked(row["memory"], row["most_memory"], ".0f", BYTES_PER_MB),
        "" if row["most_memory"] is None else f"{row['most_memory'] / BYTES_PER_MB:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _slope(slope):
    sizes = f"{slope['from']:,} to {slope['to']:,}"
    shown = _marked(slope["slope"], slope["most"], ".2f")
    return f"| {slope['command']} | {slope['ties']} | {sizes} | {shown} | {slope['most']:g} |"


def _many(row):
    cells = [
        row["what"],
        f"{row['number']:,} {row['things']}",
        f"{row['seconds']:.1f}",
        _marked(row["milliseconds"], row["most_milliseconds"], ".2f"),
        f"{row['most_milliseconds']:g}",
        _marked(row["ratio"], row["most_ratio"], ".2f"),
        f"{row['most_ratio']:g}",
    ]
    return f"| {' | '.join(cells)} |"


def _objects(row):
    shown = _marked(row["seconds"], row["most_seconds"], ".1f")
    cells = (f"{row['number']:,}", shown, f"{row['most_seconds']:g}", f"{row['local_seconds']:.1f}")
    return f"| {row['what']} | {' | '.join(cells)} |"


def _scaling(row):
    shown = _marked(row["share"], row["most"], ".2f")
    interval = f"{row['low']:.2f} to {row['high']:.2f}"
    return f"| {row['command']} | {row['rows']:,} | {row['what']} | {shown} | {interval} | {row['most']:g} |"


def _marked(value, bound, number_format, scale=1):
    shown = format(value / scale, number_format)
    return f"**{shown} !**" if bound is not None and value > bound else shown
