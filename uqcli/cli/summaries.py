"""What each command does, from the functions of commands; ``make reference`` writes this file."""

SUMMARIES = {
    "overview": "Show what a file of scores and labels holds, and what to do next.",
    "boundary": "Find thresholds that flag the most positives at a precision.",
    "backtest": "Fit rules through labelled history, and see whether they held.",
    "bin": "Count rows in a grid of score and uncertainty bins.",
    "tce": "Test whether probabilities are calibrated (TCE, ECE, others).",
    "calibrate": "Fit and test a map from scores to calibrated probabilities.",
    "conformal": "Build prediction sets with guaranteed coverage.",
    "shift": "Estimate how class priors differ in unlabelled new data.",
    "apply": "Add a saved rule's decisions, probabilities or sets to files.",
    "evaluate": "Measure saved rules on a labelled test set.",
    "sample": "Draw the rows to label, with their sampling weights.",
    "watch": "Test whether a rule still meets its target, as labels arrive.",
    "show": "Explain a saved rule in words, or how two differ.",
    "export": "Write a rule as SQL, Python or ONNX.",
    "uncertainty": "Add scores and uncertainties from a model's raw outputs.",
}
