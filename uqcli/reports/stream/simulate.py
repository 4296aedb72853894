"""Report of ``uqcli simulate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from uqcli.document import (
    Document,
    Figure,
    HoverText,
    Metric,
    OneResult,
    Table,
    count,
    head_of,
    number,
    share,
)
from uqcli.methods.stream.posterior import ExpectedCurve
from uqcli.records import dataclass
from uqcli.reports.figures import GREY, level_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def listed_metrics(*, rows: int, positives: int) -> list[Metric]:
    """Return the counts of the output by key."""
    return [
        Metric("rows", "rows", rows, count),
        Metric("positives", "positive", positives, count),
        Metric("positivity", "positive rate", positives / rows if rows else None, share),
    ]


@dataclass(frozen=True, kw_only=True)
class SimulateReport(OneResult):
    """Simulated rows.

    Attributes
    ----------
    parameters
        Kind, rows and seed, then the parameters of the model, including learned ones.
    curves
        Expected positive rate by score, for a posterior network.
    """

    parameters: Mapping[str, Any]
    positives: int
    curves: Sequence[ExpectedCurve] = ()

    @property
    def listed(self) -> list[Metric]:
        """Counts of the output."""
        return listed_metrics(rows=self.parameters["rows"], positives=self.positives)

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        payload = {**head_of("simulate", {}, self.parameters), "metrics": dict(self.metrics)}
        return {**payload, "curves": [_as_json(curve) for curve in self.curves]} if self.curves else payload

    def document(self) -> Document:
        """Return the readable form."""
        rows, kind, parameters = self.parameters["rows"], self.parameters["kind"], self.parameters
        header = [metric.label for metric in self.listed]
        table = Table(title="", header=header, rows=[[metric.cell() for metric in self.listed]], left=0)
        figures = [_curves_figure(self.curves)] if self.curves else []
        settings = Table(
            title="",
            header=("setting", "value", "meaning"),
            rows=[
                (name, _setting(parameters[name]), _MEANINGS[name])
                for name in parameters
                if name in _MEANINGS
            ],
            text_last=True,
            detail=True,
        )
        return Document(
            title=f"Simulated ({kind}): {count(rows)} rows",
            tables=[table, settings],
            notes=[_DESCRIPTIONS[kind]],
            figures=figures,
        )


_DESCRIPTIONS: Final = {
    "posterior": "A posterior network's scores and uncertainties, with labels drawn from true_positivity.",
    "gaussian": "A logistic model's scores for two Gaussian classes, with labels drawn from true_positivity.",
}
_MEANINGS: Final = {
    "seed": "of the draws",
    "tau": "undersampling of negatives in training; 1 is none",
    "omega": "positive rate of the model's prior",
    "xi": "positive rate of the true prior",
    "prior": "strength of the model's prior, in rows",
    "nu": "strength of the true prior relative to the model's",
    "gamma": "weight of the prior over that of the training rows",
    "prevalence": "positive rate",
    "train_prevalence": "positive rate of the training rows",
    "train_rows": "training rows",
    "noise": "standard deviation of normal noise on the log-odds of the scores",
    "intercept": "of the learned model",
    "slope": "of the learned model",
}


def _setting(value: float | list[float]) -> str:
    return ", ".join(map(number, value)) if isinstance(value, list) else number(value)


def _as_json(curve: ExpectedCurve) -> dict[str, Any]:
    return {
        "gamma": curve.gamma,
        "evidence": curve.evidence,
        "score": curve.score.tolist(),
        "expected_positivity": curve.positivity.tolist(),
    }


def _curves_figure(curves: Sequence[ExpectedCurve]) -> Figure:
    """Build the figure of the expected positive rate by score and uncertainty [UB Theorem 3.1, fig. 3]."""

    def draw(canvas: Canvas) -> list[HoverText]:
        axes, texts = canvas.subplots(), []
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (4, 3)), label="score")
        for curve, colour in zip(curves, level_colours(len(curves)), strict=True):
            marker = "o" if len(curve.score) <= 12 else ""  # a few points are all possible scores
            rows = "1 training row" if curve.evidence == 1 else f"{count(curve.evidence)} training rows"
            style = {"color": colour, "linewidth": 1.8, "marker": marker, "markersize": 4}
            axes.plot(curve.score, curve.positivity, label=f"gamma {curve.gamma:g} ({rows})", **style)
            step = -(-len(curve.score) // 12)
            for score, rate in zip(
                curve.score[::step].tolist(), curve.positivity[::step].tolist(), strict=True
            ):
                text = f"gamma {curve.gamma:g}: positive rate {rate:.3f} at score {score:.3f}"
                texts.append(HoverText(axes=axes, x=(score, score), y=(rate, rate), text=text))
        axes.set(xlabel="score", ylabel="expected positive rate", xlim=(0, 1), ylim=(0, 1))
        axes.legend(loc="upper left")
        return texts

    return Figure(
        title="Expected positive rate by score, for weights of the prior",
        caption="The same score means another positive rate at each gamma, the weight of the prior. Below "
        "the dashed line the scores are too high. Dots are the only scores that so little evidence allows.",
        width=7.0,
        height=4.6,
        narrow_height=3.9,
        draw=draw,
    )
