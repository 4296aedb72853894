"""Tests that keywords of the Python API have the names and defaults of the declared options.

Python's functions take arrays where a command takes files and columns, so their keywords are written out. The
table names what only one side has; a default that is resolved later may differ.
"""

import inspect
from dataclasses import MISSING, fields, is_dataclass

import pytest

import uqcli
from uqcli.api.uncertainty import uncertainty_of
from uqcli.base.options import Intervals, OptionalResampling, ResamplingOptions
from uqcli.bin.options import BinRequest
from uqcli.boundary.options import BoundaryRequest
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.cli.config import COMMANDS
from uqcli.conformal.options import ConformalRequest
from uqcli.evaluate.options import EvaluateRequest
from uqcli.export.options import ExportRequest
from uqcli.jobs import options as shared
from uqcli.jobs.boundary import ConstraintOptions
from uqcli.jobs.declared import function_of
from uqcli.sample.options import SampleRequest
from uqcli.shift.options import ShiftRequest
from uqcli.tce.options import TceRequest
from uqcli.uncertainty.options import UncertaintyRequest
from uqcli.watch.options import WatchRequest

COLUMNS = {"self", "score", "label", "uncertainty", "weight", "group", "probability", "proba", "by"}
"""Columns, which are arrays in Python; groups are ``by`` in a fit, and ``group`` in Python."""

EVALUATED = (EvaluateRequest, ResamplingOptions, shared.DependenceColumns, shared.ValueOptions)
CLASSES = (shared.ClusterColumn, shared.ClassProbabilities)
RESOLVED = {"score_bins", "binning", "undersampled", "features", "partition", "audit", "budget", "to"}
"""Options whose default is None or empty on one side, and has the same meaning on the other."""

COMMAND_ONLY = {"replace", "strict", "forget", "acknowledge", "confidence", "calibrator", "shift"}
SIDES = {
    "boundary": (
        uqcli.find_boundary,
        (ConstraintOptions, BoundaryRequest, shared.DependenceColumns, shared.ClassProbabilities),
        ({"sampled_above", "sampled_below"}, {"grid", "frontier"}),
    ),
    "bin": (uqcli.bin_counts, (BinRequest, shared.BlockBounds), (set(), {"edges", "merge"})),
    "tce": (
        uqcli.calibration_error,
        (TceRequest, ResamplingOptions, shared.SamplingWeights, *CLASSES),
        ({"options", "measured"}, set()),
    ),
    "shift": (
        uqcli.shift_weights,
        (ShiftRequest, OptionalResampling, *CLASSES),
        ({"target_day", "target_cluster"}, set()),
    ),
    "conformal": (uqcli.conformal_sets, (ConformalRequest, *CLASSES), ({"randomize"}, {"no_randomize"})),
    "calibrate": (
        uqcli.CalibrationOptions,
        (CalibrateRequest, PartOptions, Intervals, shared.ClusterColumn),
        (
            {"scale", "trees"},
            {"logit", "undersampled", "shift", "features", "categorical", "partition", "tree_data", "test"},
        ),
    ),
    "evaluate, boundary": (uqcli.Boundary.evaluate, EVALUATED, (set(), {"bootstrap"})),
    "evaluate, calibrator": (
        uqcli.Calibrator.evaluate,
        EVALUATED,
        ({"features"}, {"shift", "sampling_weight", "day", "gain", "cost", "unlabelled", "calibrator"}),
    ),
    "evaluate, conformal": (
        uqcli.ConformalSets.evaluate,
        EVALUATED,
        (set(), {"bootstrap", "sampling_weight", "day", "gain", "cost", "unlabelled", "calibrator"}),
    ),
    "sample": (
        uqcli.Boundary.sample,
        (SampleRequest, Intervals),
        (
            {"goal"},
            {
                *("for_", "plan", "keep_labelled", "confidence"),
                *("precision", "max_omission", "pilot", "positive"),
            },
        ),
    ),
    "watch, boundary": (uqcli.Boundary.watch, (WatchRequest, shared.ClusterColumn), (set(), COMMAND_ONLY)),
    "watch, conformal": (
        uqcli.ConformalSets.watch,
        (WatchRequest, shared.ClusterColumn),
        (set(), COMMAND_ONLY),
    ),
    "export": (uqcli.Fitted.export, (ExportRequest,), (set(), {"output", "check"})),
    "uncertainty": (uncertainty_of, (UncertaintyRequest,), (set(), set())),
}
"""By command: the function, the options, and the names that only Python and only the command have."""


def options_of(groups):
    return [option for group in groups for option in fields(group) if option.metadata]


@pytest.mark.parametrize("command", SIDES)
def test_keywords_have_the_names_and_defaults_of_the_options(command):
    function, groups, (python_only, command_only) = SIDES[command]
    declared = {
        option.name: option.default for group in groups for option in fields(group) if option.metadata
    }
    keywords = {
        name: MISSING if keyword.default is keyword.empty else keyword.default
        for name, keyword in inspect.signature(function).parameters.items()
    }
    assert set(keywords) - set(declared) - COLUMNS == python_only
    assert set(declared) - set(keywords) - COLUMNS == command_only
    differing = {name for name in set(keywords) & set(declared) if keywords[name] != declared[name]}
    assert differing - COLUMNS <= RESOLVED


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_of_a_command_is_declared_twice(command):
    function = function_of(command)
    groups = [
        hint for hint in inspect.get_annotations(function, eval_str=True).values() if is_dataclass(hint)
    ]
    names = [option.name for group in groups for option in fields(group) if option.metadata]
    assert sorted(names) == sorted(set(names))
