"""Types of the functions of commands, from their declarations; ``make reference`` writes them."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, SupportsFloat, TypeAlias

from uqcli.calls import Result as Result
from uqcli.calls import Rule as Rule
from uqcli.calls import load as load

Rows: TypeAlias = Any
"""A data frame of any library, a mapping of arrays, a path, or several of these."""

Value: TypeAlias = str | SupportsFloat
"""A text or a number: of an option, or a column's name."""

Values: TypeAlias = Value | Sequence[Value] | Mapping[str, Value]
"""Values where the command takes some, separated by commas."""

Path: TypeAlias = str | PathLike[str]

def overview(
    rows: Rows = None,
    *,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    audit: Values | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Show what a file of scores and labels holds, and what to do next.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    audit
        Also test each value of these columns, and each pair.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'auc < 0.7' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def boundary(
    rows: Rows = None,
    *,
    precision: Values | None = None,
    recall: Values | None = None,
    max_selected: Values | None = None,
    max_fpr: Values | None = None,
    min_specificity: Values | None = None,
    max_omission: Values | None = None,
    gain: Values | None = None,
    cost: Values | None = None,
    top: int | str | None = None,
    per: Values | None = None,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    day: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    algorithm: Literal["vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st", "smooth", "all", None] = None,
    compare: bool = False,
    certify: Values | None = None,
    pilot: Rows = None,
    margin: Values | None = None,
    review: Values | None = None,
    miss: Values | None = None,
    by: Values | None = None,
    bound: Literal["overall", "each", None] = None,
    min_group: int | str | None = 200,
    shift: Rows = None,
    uncertainty_bins: Values | None = None,
    score_bins: Values | None = None,
    binning: Literal["shared", "equi-weight", "equi-span", None] = None,
    grid: Rows = None,
    frontier: Path | None = None,
    seed: int | str | None = 0,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Find thresholds that flag the most positives at a precision.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    precision
        Maximize recall at precision S or more; or a list.
    recall
        Maximize precision at recall R or more.
    max_selected
        Maximize recall; flag at most M rows or P%.
    max_fpr
        Maximize recall at false-positive rate F or less.
    min_specificity
        Maximize recall at specificity S or more.
    max_omission
        Drop rows, at most F positive; needs certify.
    gain
        Maximize the net value: a true positive gains G.
    cost
        Maximize the net value: a false positive costs C.
    top
        Flag the N highest-ranked rows of each group.
    per
        With top: column of groups, such as days.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    cluster
        Column of dependent rows, e.g. customer_id.
    day
        Dates or times, if rows of a day are dependent.
    proba
        Columns of class probabilities: "p_*" or a,b,c.
    classes
        Names of the classes, in column order.
    output
        Save the rule here; - is standard output.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'recall < 0.3' (or a list).
    algorithm
        smooth, vw-dpmt (exact), st (one threshold) or all; more: From the papers. (default: smooth)
    compare
        Test whether the uncertainty helps, and keep the better rule.
    certify
        Guarantee the target on new data; DELTA is the chance that this is wrong (0.1 = 10 %).
    pilot
        With certify: labelled rows that choose the rule; all of INPUT tests it (or a list).
    margin
        Exceed precision by Z standard errors, so that new data miss it less often.
    review
        Send M rows, or P% of all, just below the thresholds to review.
    miss
        Send the fewest rows to review so that at most F of positives are cleared.
    by
        Find thresholds for each group of this column.
    bound
        Meet the target over all groups together (overall) or in every group (each). (default: overall)
    min_group
        Rows that a group needs for its own rule.
    shift
        Meet the target in data with other class frequencies: a file written by uqcli shift.
    uncertainty_bins
        Number of uncertainty bins. (default: 3; for smooth auto, the best of 1, 2, 4 and 8)
    score_bins
        Number of score bins, or all. (default: 500)
    binning
        Bins: shared (for smooth) or equi-weight.
    grid
        Use a grid saved by uqcli bin instead of rows.
    frontier
        Save the recall at each number of alerts (.csv, .parquet).
    seed
        Seed of the random splits.
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def bin(
    rows: Rows = None,
    *,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    binning: Literal[
        "shared", "equi-weight", "equi-span", "pava-bc", "pava", "quantile", "equispaced", None
    ] = None,
    uncertainty_bins: Values | None = None,
    score_bins: Values | None = None,
    edges: Rows = None,
    merge: bool = False,
    n_min: Values | None = None,
    n_max: Values | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Count rows in a grid of score and uncertainty bins.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    binning
        Of score and uncertainty: shared (same score edges in all bins) or equi-weight. Of the score only: quantile, pava, pava-bc or equispaced. (default: equi-weight)
    uncertainty_bins
        Uncertainty bins. (default: 3, 8 for shared, 1 for score-only binning)
    score_bins
        Score bins. (default: 500, 10 for score-only binning)
    edges
        Count rows in the bins of a saved grid.
    merge
        Add up saved grids that have equal edges.
    n_min
        pava-bc: minimum rows per bin. (default: N/20, fewer in large files)
    n_max
        pava-bc: maximum rows per bin. (default: four times n_min)
    output
        Save the rule here; - is standard output.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'positives < 100' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def tce(
    rows: Rows = None,
    *,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    sampling_weight: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    binning: Literal["pava-bc", "pava", "quantile", "equispaced", None] = "pava-bc",
    n_bins: Values | None = "10",
    alpha: float | str | None = 0.05,
    test: Literal["binomial", "t", None] = "binomial",
    bin_sizes: Literal["auto", "paper", None] = "auto",
    by: Values | None = None,
    audit: Values | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    n_min: Values | None = None,
    n_max: Values | None = None,
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    bootstrap: int | str | None = 0,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Test whether probabilities are calibrated (TCE, ECE, others).

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    cluster
        Column of dependent rows, e.g. customer_id.
    sampling_weight
        Column of 1 / the probability that a row is in the file.
    proba
        Columns of class probabilities: "p_*" or a,b,c.
    classes
        Names of the classes, in column order.
    binning
        Bins for the errors: pava-bc, pava, quantile or equispaced.
    n_bins
        Number of quantile or equispaced bins.
    alpha
        Level of the tests.
    test
        Exact binomial test or t-test of each bin.
    bin_sizes
        pava-bc: sizes that suit files of any size, or the paper's N/20.
    by
        Also measure each group of this column.
    audit
        Test the score in each segment: each value of these columns and each pair of values.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'ece > 0.05' (or a list).
    n_min
        pava-bc: minimum rows per bin. (default: N/20, fewer in large files)
    n_max
        pava-bc: maximum rows per bin. (default: four times n_min)
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    bootstrap
        Bootstrap resamples for the intervals, and for p-values in tce.
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def calibrate(
    rows: Rows = None,
    *,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    method: Literal[
        "platt",
        "temperature",
        "beta",
        "spline",
        "vector",
        "matrix",
        "isotonic",
        "venn-abers",
        "histogram",
        "mist",
        "surface",
        "heterogeneous",
        "prior",
        "identity",
        "auto",
        "all",
        None,
    ] = None,
    logit: bool = False,
    undersampled: float | str | None = None,
    shift: Rows = None,
    n_bins: Values | None = None,
    uncertainty_bins: Values | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    features: Values | None = None,
    categorical: Values | None = None,
    partition: Values | None = None,
    partitioner: Literal["tree", "forest", "boosted", None] = None,
    max_depth: Values | None = None,
    min_leaf: Values | None = None,
    split: Literal["gini", "auc", None] = None,
    leaf_method: Literal["platt", "beta", "isotonic", None] = None,
    tree_data: Rows = None,
    test: Rows = None,
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    bootstrap: int | str | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Fit and test a map from scores to calibrated probabilities.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    cluster
        Column of dependent rows, e.g. customer_id.
    method
        auto takes the simplest that fits. Formulas: temperature, platt, beta, spline. Steps: isotonic, histogram (with an error bound), mist (isotonic per uncertainty bin), venn-abers (with intervals). Others: surface (logistic in score and uncertainty), heterogeneous (one map per part of the rows), prior (only undersampled), identity (none). With proba: temperature, vector, matrix, isotonic, venn-abers, histogram. all ranks them by log loss and saves the best. (default: auto, or prior with undersampled)
    logit
        Read scores as logits or other real numbers.
    undersampled
        Correct the odds first: training kept one negative in TAU.
    shift
        Then correct the probabilities for these class weights.
    n_bins
        histogram: score bins (quantiles). (default: 10)
    uncertainty_bins
        mist: uncertainty bins. (default: 3)
    output
        Save the rule here; - is standard output.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'after.ece > 0.05' (or a list).
    proba
        Columns of class probabilities: "p_*" or a,b,c.
    classes
        Names of the classes, in column order.
    features
        Columns that trees split by.
    categorical
        Features whose numbers name categories.
    partition
        Columns whose values name the parts.
    partitioner
        heterogeneous: one tree, a forest (mean), or boosted trees. (default: tree)
    max_depth
        Depth of the trees. (default: chosen for one tree, else 3)
    min_leaf
        Minimum rows per part; smaller ones use a larger part's map. (default: chosen for one tree, else 500)
    split
        heterogeneous: split trees by purity (gini) or by calibrated AUC. (default: gini)
    leaf_method
        Map of each part. (default: platt)
    tree_data
        Labelled rows for the trees (or a list). (default: half of the rows)
    test
        Measure on this labelled test set (or a list). (default: cross-validation)
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    bootstrap
        Bootstrap resamples; 0 for no intervals. (default: 200 up to 50,000 rows, else 0)
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def conformal(
    rows: Rows = None,
    *,
    proba: Values | None = None,
    classes: Values | None = None,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    alpha: Values | None = "0.1",
    method: Literal["aps", "lac", None] = "aps",
    mode: Literal["marginal", "label-conditional", "label-shift", None] = "marginal",
    alpha_by_class: Values | None = None,
    by: Values | None = None,
    shift: Rows = None,
    target: Rows = None,
    no_randomize: bool = False,
    seed: int | str | None = 0,
    output: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Build prediction sets with guaranteed coverage.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    proba
        Columns of class probabilities: "p_*" or a,b,c.
    classes
        Names of the classes, in column order.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    cluster
        Column of dependent rows, e.g. customer_id.
    alpha
        Share of rows whose set may miss the true class.
    method
        aps: classes by cumulative probability; lac: classes above a threshold.
    mode
        Coverage over all rows (marginal), in each class (label-conditional), or under other class priors (label-shift).
    alpha_by_class
        label-conditional: other alphas for some classes.
    by
        marginal: coverage in each group of this column; new groups use all rows.
    shift
        label-shift: saved class weights.
    target
        label-shift: unlabelled new data, instead of shift (or a list).
    no_randomize
        aps: larger sets without random draws.
    seed
        Seed of the random draws.
    output
        Save the rule here; - is standard output.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'always_in > 0' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def shift(
    rows: Rows = None,
    *,
    target: Rows = None,
    estimator: Literal["bbse", "em", "known", None] = "bbse",
    confusion: Literal["hard", "soft", None] = "hard",
    prior: Values | None = None,
    day: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    bootstrap: int | str | None = None,
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Estimate how class priors differ in unlabelled new data.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    target
        Unlabelled new data (or a list); weight is for the labelled rows.
    estimator
        bbse: from predicted classes; em: maximum likelihood, after calibration on the labelled rows; known: from prior.
    confusion
        bbse: count predicted classes (hard) or add up probabilities (soft).
    prior
        known: class priors of the new data, in class order.
    day
        Column of days in both files, if rows of a day are dependent.
    proba
        Columns of class probabilities: "p_*" or a,b,c.
    classes
        Names of the classes, in column order.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    cluster
        Column of dependent rows, e.g. customer_id.
    output
        Save the rule here; - is standard output.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'shift_p < 0.001' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    bootstrap
        Bootstrap resamples; 0 for no intervals. (default: 200 up to 50,000 rows, else 0)
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def apply(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    rows: Rows = None,
    *,
    output: Path | None = None,
    output_format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    prefix: Values | None = "",
    overwrite: bool = False,
    union: bool = False,
    no_empty: bool = False,
    only_selected: bool = False,
    top: int | str | None = None,
    per: Values | None = None,
    score: Values | None = None,
    uncertainty: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Add a saved rule's decisions, probabilities or sets to files.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    output
        Write the rows here; the file ending sets the format. (default: CSV to standard output)
    output_format
        Format of the rows: csv, parquet, arrow or jsonl, whatever the file ending.
    prefix
        Prefix for the names of added columns.
    overwrite
        Replace columns that have these names.
    union
        Accept inputs with different columns; fill missing ones with null.
    no_empty
        Put the likeliest class into empty prediction sets (raises coverage).
    only_selected
        Write only the flagged rows (boundaries).
    top
        Flag the N highest-ranked rows instead of using thresholds.
    per
        With top: flag N rows of each value of this column, or of each date of times.
    score
        Score column. (default: as in the rule)
    uncertainty
        Uncertainty column; =-COL if low values are uncertain. (default: as in the rule)
    proba
        Columns of class probabilities: "q_*", where * is the class, or a,b,c in the rule's order. (default: as in the rule)
    classes
        The rule's classes, in the order of the listed columns.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'selected_share > 0.1' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def evaluate(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    rows: Rows = None,
    *,
    shift: Rows = None,
    top: int | str | None = None,
    per: Values | None = None,
    by: Values | None = None,
    sampling_weight: Values | None = None,
    unlabelled: Rows = None,
    calibrator: Rows = None,
    audit: Values | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    score: Values | None = None,
    uncertainty: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    labels: Rows = None,
    on: Values | None = None,
    label: Values | None = None,
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    day: Values | None = None,
    gain: Values | None = None,
    cost: Values | None = None,
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    bootstrap: int | str | None = 0,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Measure saved rules on a labelled test set.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    shift
        Also measure precision or coverage with these class weights.
    top
        Measure the N highest-ranked rows instead of those that thresholds flag, as apply top does.
    per
        With top: the N rows of each value of this column, or of each date of times.
    by
        Also measure each group of this column.
    sampling_weight
        Column of 1 / the probability that a row is in the file.
    unlabelled
        All rows, from which the labelled ones were taken: their probabilities narrow the intervals (or a list).
    calibrator
        Calibrator of the probabilities of rows without a label. (default: the scores)
    audit
        Test the rule in each segment: each value of these columns and each pair of values.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'promise_broken == 1' (or a list).
    score
        Score column. (default: as in the rule)
    uncertainty
        Uncertainty column; =-COL if low values are uncertain. (default: as in the rule)
    proba
        Columns of class probabilities: "q_*", where * is the class, or a,b,c in the rule's order. (default: as in the rule)
    classes
        The rule's classes, in the order of the listed columns.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    label
        Label column. (default: as in the rule)
    weight
        Column of row counts (not sampling weights). (default: as in the rule)
    no_weight
        Count each row once, whatever the rule or a configuration says.
    positive
        Label that means positive, such as yes. (default: as in the rule)
    cluster
        Column of dependent rows, e.g. customer_id.
    day
        Dates or times, if rows of a day are dependent.
    gain
        Gain of a true positive. (default: as in the rule)
    cost
        Cost of a false positive. (default: as in the rule)
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    bootstrap
        Bootstrap resamples for the intervals, and for p-values in tce.
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def backtest(
    rows: Rows = None,
    *,
    precision: Values | None = None,
    recall: Values | None = None,
    max_fpr: Values | None = None,
    max_selected: Values | None = None,
    gain: Values | None = None,
    cost: Values | None = None,
    day: Values | None = None,
    every: Values | None = None,
    fit: Values | None = "0",
    delay: Values | None = "0",
    model_until: Values | None = None,
    margin: Values | None = "0",
    certify: Values | None = None,
    by: Values | None = None,
    top: int | str | None = None,
    per: Values | None = None,
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    labels: Rows = None,
    on: Values | None = None,
    score: Values | None = "score",
    uncertainty: Values | None = "uncertainty",
    label: Values | None = "label",
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Fit rules through labelled history, and see whether they held.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    precision
        Maximize recall at precision S or more.
    recall
        Maximize precision at recall R or more.
    max_fpr
        Maximize recall at false-positive rate F or less.
    max_selected
        Maximize recall with P% of rows flagged at most.
    gain
        Maximize the net value: a true positive gains G.
    cost
        Maximize the net value: a false positive costs C.
    day
        Column of the date of each row.
    every
        Periods: month, week, quarter, or days such as 30d. (default: month; week below six months)
    fit
        Fit each rule on so many days, such as 180d. (default: all days before)
    delay
        Days until the label of a row is there, such as 30d. (default: 0)
    model_until
        Last day that the model was trained on: periods up to it are not counted.
    margin
        Exceed precision by Z standard errors; several are compared. (default: 0)
    certify
        Guarantee each rule's target on new data at this risk, as boundary does.
    by
        Find thresholds for each group of this column.
    top
        Flag the N highest scores instead of thresholds.
    per
        With top: N of each value of this column, such as day.
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    score
        Score column.
    uncertainty
        Uncertainty; =-COL if low is uncertain.
    label
        Label column: 0/1 or true/false.
    weight
        Column of row counts (not sampling weights). (default: none)
    no_weight
        Count each row once, whatever is configured.
    positive
        Label that means positive, such as yes.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'first.below_usual == 1' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def sample(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    rows: Rows = None,
    *,
    for_: Literal["precision", "recall", "certificate", None],
    budget: int | str | None = None,
    precision: Values | None = None,
    max_omission: Values | None = None,
    pilot: Rows = None,
    plan: float | str | None = None,
    calibrator: Rows = None,
    positive: Values | None = None,
    label: Values | None = None,
    keep_labelled: bool = False,
    output: Path | None = None,
    output_format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    prefix: Values | None = "",
    overwrite: bool = False,
    union: bool = False,
    score: Values | None = None,
    uncertainty: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    confidence: float | str | None = 0.95,
    seed: int | str | None = 0,
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Draw the rows to label, with their sampling weights.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    for_
        What the labels are for: precision, recall or certificate (no rule needed).
    budget
        Number of rows to label; for recall, on average; for a certificate, with the pilot.
    precision
        certificate: the precision to certify.
    max_omission
        certificate: in place of precision, the largest share of positives among dropped rows.
    pilot
        certificate: the labelled rows of the first call, to draw the rest (or a list).
    plan
        Write no rows; say how many labels give an interval of this width.
    calibrator
        Calibrator whose probabilities plan a sample for recall. (default: the scores)
    positive
        certificate: label that means positive, such as yes.
    label
        Label column, also of the pilot; of INPUT only rows without a label are drawn.
    keep_labelled
        Also write the rows that have a label, with weight 1, so that evaluate uses all.
    output
        Write the rows here; the file ending sets the format. (default: CSV to standard output)
    output_format
        Format of the rows: csv, parquet, arrow or jsonl, whatever the file ending.
    prefix
        Prefix for the names of added columns.
    overwrite
        Replace columns that have these names.
    union
        Accept inputs with different columns; fill missing ones with null.
    score
        Score column. (default: as in the rule)
    uncertainty
        Uncertainty column; =-COL if low values are uncertain. (default: as in the rule)
    proba
        Columns of class probabilities: "q_*", where * is the class, or a,b,c in the rule's order. (default: as in the rule)
    classes
        The rule's classes, in the order of the listed columns.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'width > 0.1' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    confidence
        Confidence of the intervals.
    seed
        Seed of the random draws.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def watch(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    rows: Rows = None,
    *,
    state: Path | None = None,
    day: Values | None = None,
    matured: int | str | None = None,
    replace: bool = False,
    strict: bool = False,
    forget: Values | None = None,
    acknowledge: bool = False,
    bound: Values | None = None,
    delta: Values | None = None,
    run_length: int | str | None = None,
    confidence: float | str | None = 0.95,
    calibrator: Rows = None,
    shift: Rows = None,
    plot: Path | None = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    score: Values | None = None,
    uncertainty: Values | None = None,
    proba: Values | None = None,
    classes: Values | None = None,
    labels: Rows = None,
    on: Values | None = None,
    label: Values | None = None,
    weight: Values | None = None,
    no_weight: bool = False,
    positive: Values | None = None,
    cluster: Values | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Test whether a rule still meets its target, as labels arrive.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    state
        Keep the counts of all batches in this file, from run to run.
    day
        Count each day, week or number of this column once.
    matured
        Count a day only N days later, when its labels are complete.
    replace
        Count a day or batch again if its labels have changed.
    strict
        End with exit code 2 if a batch was counted before.
    forget
        Take a batch out of the counts: its digest or day.
    acknowledge
        Clear the alarms and start counting anew.
    bound
        Limit to watch. (default: what is certified, else the lower end of what was expected, else the target)
    delta
        Chance that a rule that meets its target ever rings the alarm. (default: 0.01)
    run_length
        Mean number of batches until a false alarm of a change. (default: 1000)
    confidence
        Confidence of the intervals.
    calibrator
        Calibrator from which to expect precision and recall before labels arrive.
    shift
        Class weights of the new rows: a file written by uqcli shift.
    plot
        Save the figure: .png, .svg or .pdf.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'trials < 100' (or a list).
    score
        Score column. (default: as in the rule)
    uncertainty
        Uncertainty column; =-COL if low values are uncertain. (default: as in the rule)
    proba
        Columns of class probabilities: "q_*", where * is the class, or a,b,c in the rule's order. (default: as in the rule)
    classes
        The rule's classes, in the order of the listed columns.
    labels
        Read labels from this file, joined by on.
    on
        Column of ids that the inputs and labels share.
    label
        Label column. (default: as in the rule)
    weight
        Column of row counts (not sampling weights). (default: as in the rule)
    no_weight
        Count each row once, whatever the rule or a configuration says.
    positive
        Label that means positive, such as yes. (default: as in the rule)
    cluster
        Column of dependent rows, e.g. customer_id.
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def show(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    other: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    *,
    on: Rows = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Explain a saved rule in words, or how two differ.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    other
        A second rule: show what differs.
    on
        Count the rows that only one of two boundaries flags. (or a list)
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'differences > 0' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def export(
    rule: Rule | Result | Path | Sequence[Rule | Result | Path] | None = None,
    *,
    to: Literal["sql", "python", "onnx", None],
    dialect: Literal[
        "duckdb", "sqlite", "postgres", "bigquery", "snowflake", "spark", "mysql", None
    ] = "duckdb",
    table: Values | None = None,
    output: Path | None = None,
    check: Rows = None,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Write a rule as SQL, Python or ONNX.

    Parameters
    ----------
    rule
        A saved rule: a path, or the rule of a result.
    to
        Language: sql, python or onnx.
    dialect
        Dialect of SQL: duckdb, sqlite, postgres, bigquery, snowflake, spark or mysql.
    table
        Write a query of this table, not the expression alone.
    output
        Write the program here. (default: standard output)
    check
        Compare with the rule on these rows and at every threshold (or a list).
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'differences > 0' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...

def uncertainty(
    rows: Rows = None,
    *,
    alpha1: Values | None = None,
    alpha0: Values | None = None,
    members: Values | None = None,
    output: Path | None = None,
    output_format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    prefix: Values | None = "",
    overwrite: bool = False,
    union: bool = False,
    verbose: bool = False,
    report: Path | Sequence[Path] | None = None,
    tag: Value | Sequence[Value] | None = None,
    title: Values | None = None,
    fail_if: Value | Sequence[Value] | None = None,
    format: Literal["csv", "parquet", "arrow", "jsonl", None] = None,
    delimiter: Values | None = None,
    decimal: Values | None = ".",
    null_value: Value | Sequence[Value] | None = None,
    on_invalid: Literal["error", "drop", "keep", None] = "error",
    engine: Literal["polars", "spark", None] = "polars",
    spark: Values | None = None,
) -> Result:
    """Add scores and uncertainties from a model's raw outputs.

    Parameters
    ----------
    rows
        A data frame of any library, a mapping of arrays, a path, or several of these.
    alpha1
        Beta parameter of the positive class (with alpha0).
    alpha0
        Beta parameter of the negative class (with alpha1).
    members
        Ensemble members' probabilities: "m_*", or a,b,c.
    output
        Write the rows here; the file ending sets the format. (default: CSV to standard output)
    output_format
        Format of the rows: csv, parquet, arrow or jsonl, whatever the file ending.
    prefix
        Prefix for the names of added columns.
    overwrite
        Replace columns that have these names.
    union
        Accept inputs with different columns; fill missing ones with null.
    verbose
        Print details, every caution and whole tables.
    report
        Also write the report to FILE; its ending sets the format: .html, .md, .json, .csv, .xml, .prom (or a list).
    tag
        Label of all samples of .prom (or a list).
    title
        Title of .html and .md. (default: the answer)
    fail_if
        End with exit code 6 if this holds, such as 'rows < 1000' (or a list).
    format
        csv, parquet, arrow or jsonl. (default: by name)
    delimiter
        CSV delimiter, or 'tab'. (default: by name)
    decimal
        Decimal mark of CSV: '.' or ','.
    null_value
        Another text for null in CSV (or a list).
    on_invalid
        For null, NaN or inf: error, drop, keep.
    engine
        Engine: polars or spark.
    spark
        Spark cluster sc://host:port, or SPARK_REMOTE.

    Returns
    -------
    Result

    Raises
    ------
    UqcliError
        What the command would end with; after a failed search its ``report`` has the report.
    """
    ...
