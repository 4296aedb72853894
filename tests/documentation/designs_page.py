"""Makes the page on how rows were drawn: what is measured of dependent and of weighted rows."""

from uqcli.estimates.allowed import AUDIT, CALIBRATORS, CLUSTERS, ERRORS, REFUSED, SETS, SHIFT, WEIGHTS

PART = "labels for some rows"
DESIGNS = (CLUSTERS, WEIGHTS, f"{CLUSTERS} and {WEIGHTS}", PART, SHIFT)
"""How rows were drawn."""

RATES = "rates and zones"
GROUPS = "groups (--by)"
VALUE = "value (--gain, --cost)"
BENEFIT = "net benefit"
DIFFERENCE = "difference of two boundaries"
SUBJECTS = (RATES, GROUPS, AUDIT, VALUE, BENEFIT, DIFFERENCE, CALIBRATORS, SETS, ERRORS)
"""What is measured."""

NOTES = {
    (CLUSTERS, RATES): "interval over clusters",
    (CLUSTERS, GROUPS): "interval and test over the clusters of a group",
    (CLUSTERS, AUDIT): "test over the clusters of a segment; not of calibrators",
    (CLUSTERS, VALUE): "a cluster's sum is one amount",
    (CLUSTERS, BENEFIT): "interval over clusters, from 20 of them",
    (CLUSTERS, DIFFERENCE): "linearised over clusters",
    (CLUSTERS, CALIBRATORS): "clusters are resampled (--bootstrap)",
    (CLUSTERS, SETS): "interval over clusters",
    (CLUSTERS, ERRORS): "one row of each cluster, or its signs",
    (WEIGHTS, RATES): "interval by weight",
    (WEIGHTS, GROUPS): "interval and test by weight",
    (WEIGHTS, VALUE): "each amount times its weight",
    (WEIGHTS, BENEFIT): "interval by weight",
    (WEIGHTS, DIFFERENCE): "linearised over rows",
    (WEIGHTS, CALIBRATORS): "metrics without intervals and tests",
    (WEIGHTS, ERRORS): "metrics by weight; no tests and intervals",
    (f"{CLUSTERS} and {WEIGHTS}", RATES): "interval over clusters, by weight",
    (f"{CLUSTERS} and {WEIGHTS}", GROUPS): "the same within a group",
    (f"{CLUSTERS} and {WEIGHTS}", VALUE): "a cluster's weighted sum is one amount",
    (f"{CLUSTERS} and {WEIGHTS}", BENEFIT): "interval over clusters, by weight",
    (f"{CLUSTERS} and {WEIGHTS}", DIFFERENCE): "linearised over clusters, by weight",
    (PART, RATES): "labelled rows are weighted for all (section on missing labels)",
    (PART, GROUPS): "as for all rows; a target is tested for precision only",
    (PART, AUDIT): "precision only, on labelled rows",
    (PART, VALUE): "of labelled rows; no share of the gain",
    (PART, BENEFIT): "labelled rows are weighted for all",
    (PART, DIFFERENCE): "where all decisions of both rules have labels",
    (PART, CALIBRATORS): "labelled rows only",
    (PART, SETS): "labelled rows only",
    (PART, ERRORS): "labelled rows only",
    (SHIFT, RATES): "precision among target data, with the error of the class weights",
    (SHIFT, GROUPS): "figures, but no test of a target",
    (SHIFT, VALUE): "of the rows at hand",
    (SHIFT, BENEFIT): "none: the odds are about the class priors of the target data",
    (SHIFT, DIFFERENCE): "of the rows at hand",
    (SHIFT, SETS): "coverage in target data, with the error of the class weights",
}
"""What is printed where a design and a subject go together."""

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


def reason(design, subject):
    """Return why a design and a subject (or a second design) do not go together; empty if they do."""
    parts = (design, *((CLUSTERS, WEIGHTS) if " and " in design else ()))
    return next((REFUSED[part, subject] for part in parts if (part, subject) in REFUSED), "")
