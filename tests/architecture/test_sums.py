"""Test that rows are grouped in one place: a new call that numbers, sorts or groups rows needs a reason here.

Rows are summed by unit (a customer, a day, a group) by ``UnitTable``, and whole numbers are ranked by
``dense_ranks`` (both in ``uqcli/kernels/units.py``); ``distinct_numbers`` has the distinct ones. From numpy
2.3 on, ``np.unique`` of whole numbers hashes them, which takes a hundred times as long as a sort.
"""

import ast
from collections import Counter
from pathlib import Path

import uqcli

ROOT = Path(uqcli.__file__).parent
CALLS = {"unique", "lexsort", "group_by", "groupBy"}

FLOATS = "floating-point numbers, which no table is indexed by"
TIES = "an order with ties, not a sum"
TEXTS = "texts, once each"
SPARK = "work of the cluster"
HASHES = "hashes of 64 bits without a sign, of which the lowest are kept"

EXPECTED = {
    ("audit/segments.py", "values_of", "unique"): (2, FLOATS),
    ("base/counts.py", "distinct_rows", "lexsort"): (
        1,
        "whole rows of floating-point numbers and texts, by ties of the first",
    ),
    ("base/draws.py", "dealt", "lexsort"): (1, TIES),
    ("base/rows.py", "ClassCounts._columns", "unique"): (1, FLOATS),
    ("boundary/certificate_rows.py", "region_of", "unique"): (1, FLOATS),
    ("boundary/certificate_rows.py", "region_certifier", "unique"): (2, FLOATS),
    ("boundary/clusters.py", "RowsByCluster.from_rows", "lexsort"): (
        1,
        "single rows by cluster, to exchange",
    ),
    ("boundary/drawn_rows.py", "drawn_rows", "lexsort"): (2, "the lowest of each cluster at each boundary"),
    ("boundary/groups.py", "merged", "lexsort"): (1, TIES),
    ("boundary/permutation.py", "_resampled", "unique"): (1, FLOATS),
    ("boundary/search/goals.py", "MaximiseUtility.optimum", "lexsort"): (1, TIES),
    ("boundary/search/knapsack.py", "_extend", "lexsort"): (1, TIES),
    ("boundary/search/smoothing.py", "Layout.tie", "unique"): (1, FLOATS),
    ("boundary/search/smoothing.py", "nested_of_draws", "lexsort"): (1, TIES),
    ("boundary/search/thresholds.py", "FirstRows._sort", "lexsort"): (1, TIES),
    ("boundary/tested_units.py", "WholeClusters.split", "lexsort"): (1, TIES),
    ("calibrate/maps/spline.py", "_knots", "unique"): (1, FLOATS),
    ("calibrate/maps/surface.py", "_fit_normal_scores", "unique"): (1, FLOATS),
    ("calibrate/tree.py", "_candidates", "unique"): (2, FLOATS),
    ("conformal/coverage.py", "label_shift_thresholds", "unique"): (1, FLOATS),
    ("engines/local/check/batches.py", "GroupTally._sizes_by", "lexsort"): (1, "groups, not rows"),
    ("engines/local/check/batches.py", "GroupTally.counted_codes", "lexsort"): (1, "groups, not rows"),
    ("engines/local/check/first_look.py", "__init__", "unique"): (2, TEXTS),
    ("engines/local/check/first_look.py", "_form", "unique"): (1, TEXTS),
    ("engines/local/check/first_look.py", "_is_truth", "unique"): (1, TEXTS),
    ("engines/local/check/first_look.py", "holds_dates", "unique"): (1, TEXTS),
    ("engines/local/check/values.py", "labels_of", "unique"): (1, TEXTS),
    ("engines/local/check/values.py", "label_texts", "unique"): (1, TEXTS),
    ("engines/local/check/values.py", "days_of", "unique"): (1, TEXTS),
    ("engines/local/check/values.py", "whole_feature", "unique"): (1, TEXTS),
    ("engines/local/check/values.py", "_level_codes", "unique"): (1, TEXTS),
    ("engines/local/count/pooling.py", "_pooled_together", "lexsort"): (
        1,
        "small groups, pooled in one sort",
    ),
    ("engines/open.py", "_distinct_expected", "unique"): (1, FLOATS),
    ("engines/repeated_rows.py", "WeightSummary.add", "unique"): (1, HASHES),
    ("engines/repeated_rows.py", "RepeatedPairs.sample", "unique"): (2, HASHES),
    ("engines/repeated_rows.py", "SharedRows.add", "unique"): (1, HASHES),
    ("engines/repeated_rows.py", "SharedRows.add", "lexsort"): (1, TIES),
    ("engines/repeated_rows.py", "SharedRows.caution", "unique"): (1, HASHES),
    ("engines/repeated_rows.py", "SharedRows._caution_of_sizes", "unique"): (1, "a number of each input"),
    ("engines/spark/check.py", "_repeated", "groupBy"): (1, SPARK),
    ("engines/spark/check.py", "_caution_of_shared_rows", "groupBy"): (3, SPARK),
    ("engines/spark/check.py", "_weights_seen", "groupBy"): (3, SPARK),
    ("engines/spark/engine.py", "ExpressionCounter.cell_counts", "groupBy"): (1, SPARK),
    ("engines/spark/engine.py", "FunctionCounter.cell_counts", "groupBy"): (1, SPARK),
    ("engines/spark/engine.py", "_sizes_of", "groupBy"): (1, SPARK),
    ("engines/spark/pooling.py", "pooled", "groupBy"): (1, SPARK),
    ("engines/spark/pooling.py", "pooled", "lexsort"): (1, "values of parts that the cluster has counted"),
    ("engines/spark/pooling.py", "distinct_rows", "groupBy"): (1, SPARK),
    ("engines/spark/pooling.py", "_rows", "lexsort"): (1, "whole rows, in an order by their content"),
    ("engines/spark/read.py", "_refuse_lines", "groupBy"): (1, SPARK),
    ("engines/spark/values.py", "with_labels", "groupBy"): (2, SPARK),
    ("engines/spark/write.py", "_count_texts", "groupBy"): (1, SPARK),
    ("estimates/model_assisted.py", "Clusters.sums", "lexsort"): (1, "floating-point sums in one order"),
    ("evaluate/decisions.py", "DecisionTally.prepare", "unique"): (
        1,
        "decisions of many rules, as large numbers",
    ),
    ("evaluate/decisions.py", "DecisionTally._column", "unique"): (
        1,
        "decisions of many rules, as large numbers",
    ),
    ("evaluate/decisions.py", "DecisionTally._parts", "unique"): (1, "starts of groups that are sorted"),
    ("kernels/units.py", "_number_arrays", "unique"): (1, "the kernel's definition, for few rows"),
    ("kernels/units.py", "_sort_arrays", "lexsort"): (1, "the kernel's definition, for few rows"),
    ("sample/certificate.py", "share_above", "unique"): (1, FLOATS),
    ("sklearn.py", "_fitting", "unique"): (2, "labels of any type, as scikit-learn numbers them"),
    ("tce/band.py", "_least_shift", "lexsort"): (1, TIES),
}
"""Number of calls and the reason, by file, function and what is called."""


def calls_of(node, scope=""):
    """Yield the calls below a node, with the class and the function around each."""
    for child in ast.iter_child_nodes(node):
        inner = scope
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            outer = scope if scope[:1].isupper() and "." not in scope else ""
            inner = f"{outer}.{child.name}" if outer else child.name
        if isinstance(child, ast.Call):
            name = getattr(child.func, "attr", getattr(child.func, "id", ""))
            if name in CALLS:
                yield scope, name
        yield from calls_of(child, inner)


def test_rows_are_numbered_sorted_and_grouped_where_a_reason_says_so():
    found = Counter(
        (path.relative_to(ROOT).as_posix(), *call)
        for path in ROOT.rglob("*.py")
        for call in calls_of(ast.parse(path.read_text(encoding="utf-8")))
    )
    listed = {key: calls for key, (calls, _) in EXPECTED.items()}
    new, gone = found - Counter(listed), Counter(listed) - found
    assert not new, f"sum rows by UnitTable, rank whole numbers by dense_ranks, or give a reason: {new}"
    assert not gone, f"no longer called, so no longer listed: {gone}"


def test_calls_are_found_in_methods_and_functions():
    source = (
        "class A:\n    def f(self):\n        np.unique(x)\ndef g():\n    def h():\n        x.group_by(y)\n"
    )
    assert list(calls_of(ast.parse(source))) == [("A.f", "unique"), ("h", "group_by")]
