"""Makes the page on how rows were drawn: what is measured of dependent and of weighted rows."""

from uqcli.estimates.allowed import DESIGNS, NOTES, SUBJECTS, reason

HEAD = """# How rows were drawn

Intervals and tests take rows as independent draws that count alike, unless an option says how they were
drawn. Rows of one customer or day depend on each other (`--cluster`, `--day`). Rows kept at different rates
carry a sampling weight (`--sampling-weight`). Some rows may have no label. And the new data may have other
class priors (`--shift`). Each figure asks the same question of all of them: what are the units, and what
would one that was not drawn weigh?

The tables list what goes together. Other combinations end with exit code 2, and the message gives the reason
that stands here. Simulations show the levels, with 20 to 300 clusters, correlations from 0 to 0.5 and unequal
weights. A figure that would not hold its level is null. `make reference` writes this page from the program.
"""


def designs_page():
    """Describe each design, and what can be measured of it."""
    return "\n".join([HEAD, *(_design(design) for design in DESIGNS)])


def _design(design):
    rows = [f"| {subject} | {_cell(design, subject)} |" for subject in SUBJECTS]
    return "\n".join([f"## {_name(design)}", "", "| figure | what is printed |", "|---|---|", *rows, ""])


def _cell(design, subject):
    if refused := reason(design, subject):
        return f"refused: {refused}"
    return NOTES[design, subject]


def _name(design):
    options = [word for word in design.split() if word.startswith("--")]
    for option in options:
        design = design.replace(option, f"`{option}`")
    return design[:1].upper() + design[1:]
