# pyright: strict
"""A program that uses every command as users write it, for type checkers; it is not run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqcli import commands as uq

rows: dict[str, NDArray[np.float64]] = {"score": np.array([0.1, 0.9]), "label": np.array([0.0, 1.0])}

found: uq.Result = uq.boundary(rows, precision=0.9, algorithm="smooth", day="day", score=["a", "b"])
grid = uq.bin("rows.parquet", score_bins=20, output="grid.json")
merged = uq.bin([grid.rule, "other.json"], merge=True)
errors: dict[str, Any] = uq.tce(rows, bootstrap=50, fail_if=["ece > 0.05", "tce > 0"]).metrics
calibrator: uq.Rule = uq.calibrate(rows, method="auto", test=rows).rule
sets = uq.conformal(rows, alpha=0.1, alpha_by_class={"a": 0.2}, shift=uq.shift(rows, target=["new.csv"]))
uncertain = uq.uncertainty(rows, members="m_*")
first: str = str(uq.overview("rows.csv", on_invalid="drop"))

flagged: NDArray[np.bool_] = found.rule.decide(rows)
probability: NDArray[Any] = calibrator.predict(rows)
tested: uq.Result = uq.evaluate([found.rule, "other.json"], rows, calibrator=calibrator, by="team")
watched: bool = uq.watch(found, rows, state="state.json").failed
drawn = uq.sample("rule.json", rows, for_="recall", budget=100).rows
added = uq.apply(found.rule, rows, prefix="new_").rows
words: str = str(uq.show(found, "other.json"))
program: str | bytes = uq.export(found, to="sql", dialect="duckdb").program
text: str | bytes = found.rule.export("python")
tested.report("page.html")
tested.plot("figure.svg")
content: str = tested.json()
loaded: uq.Rule = uq.load("rule.json")
loaded.save("copy.json")
kind: str = loaded.kind
cautions: list[str] = tested.cautions
