"""Drawing of figures with matplotlib, to reproducible bytes."""

from __future__ import annotations

import importlib.util
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from uqcli.document import Figure, printable
from uqcli.errors import MissingExtraError, UsageError
from uqcli.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS = ("png", "svg", "pdf")
NARROW: Final = 3.8
"""Width in inches of a figure for a telephone."""

_MAX_NAME_CHARACTERS: Final = 28
"""Characters of a name beside its line."""

_GRID_POSITIONS = 9973
"""Grid positions of axes along the width and the height of a figure."""

GREY, RED, BLUE, INK = "#b9c0c8", "#c8352b", "#2f6db3", "#22262b"
"""Colours that differ in print and for colour-blind readers."""

_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.edgecolor": "#6b7178",
    "axes.labelcolor": INK,
    "xtick.color": "#4a5057",
    "ytick.color": "#4a5057",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "uqcli",  # the same figure is the same bytes
    "figure.dpi": 144,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.1,
    "legend.framealpha": 0.85,  # lines behind it do not cross its text
    "legend.edgecolor": "none",
    "text.parse_math": False,  # names may contain dollar signs
}


def level_colours(levels: int) -> Any:
    """Return one colour per ordered level, dark to light; shape (levels, 4)."""
    from matplotlib import colormaps

    return colormaps["viridis"]([0.85 * level / max(1, levels - 1) for level in range(levels)])


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def require_drawing() -> None:
    """Check that figures can be drawn.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    if not can_draw():
        raise MissingExtraError(
            "figures need matplotlib",
            expected="the extra 'report'",
            remedy="pip install 'uqcli[report]', or ask for a .json report",
        )


def check_plot_name(name: str) -> str:
    """Return the format of a picture from its file name.

    Raises
    ------
    UsageError
        The name ends in none of .png, .svg, .pdf.
    """
    suffix = Path(name).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UsageError(f"--plot '{name}' has no known ending", expected=".png, .svg or .pdf")
    return suffix


def is_narrow(canvas: Canvas) -> bool:
    """Whether a figure is for a narrow screen."""
    return canvas.get_figwidth() <= NARROW


def panels(canvas: Canvas, ratios: Sequence[float], *, share_y: bool = False) -> list[Axes]:
    """Create axes side by side with some ratios of their widths; stacked on a narrow screen."""
    if is_narrow(canvas):
        return list(canvas.subplots(len(ratios), 1, squeeze=False)[:, 0])
    return list(canvas.subplots(1, len(ratios), squeeze=False, sharey=share_y, width_ratios=ratios)[0])


def draw_grid_lines(axes: Axes, axis: Literal["x", "both"] = "both") -> None:
    """Draw faint grid lines behind the data."""
    axes.grid(axis=axis, color="#e3e6e9", linewidth=0.8)
    axes.set_axisbelow(True)


def label_lines(axes: Axes, names: Sequence[str]) -> None:
    """Give each name a line, the first on top."""
    axes.set_yticks(range(len(names)), [printable(name, _MAX_NAME_CHARACTERS) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    draw_grid_lines(axes, "x")


def wrap_title(title: str) -> str:
    """Wrap a title to the width of a narrow figure."""
    import textwrap

    return "\n".join(textwrap.wrap(printable(title, 120), 44)) or " "


def render(figure: Figure, file_format: str, *, narrow: bool = False) -> bytes:
    """Draw a figure in a file format, the same bytes each time."""
    require_drawing()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[file_format]
    size = (NARROW, figure.narrow_height) if narrow else (figure.width, figure.height)
    with _program_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
        _escape_texts(canvas)
        _freeze_layout(canvas)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format=file_format, metadata=undated)
    return buffer.getvalue()


@contextmanager
def _program_style() -> Iterator[None]:
    """Use the program's style instead of any matplotlibrc, without warnings.

    Raises
    ------
    UsageError
        matplotlib cannot be loaded, for example with a matplotlibrc that is not text.
    """
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        try:
            import matplotlib
        except (ValueError, OSError) as error:
            raise UsageError(
                f"matplotlib cannot be loaded: {error}", remedy="look at matplotlibrc and MPLCONFIGDIR"
            ) from error
        with matplotlib.rc_context(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a script that the font lacks
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            yield
    finally:
        log.setLevel(level)


def _freeze_layout(canvas: Canvas) -> None:
    """Round the positions of axes and subfigures to a grid.

    The layout solver sums in the order of memory addresses, so positions differ in their last digits between
    runs. Rounding keeps the bytes of the file equal. As 9973 is prime, common fractions of the size are not
    halfway between grid points.
    """
    from matplotlib.transforms import Bbox

    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    for subfigure in canvas.subfigs:
        subfigure.bbox_relative.p0, subfigure.bbox_relative.p1 = map(
            _on_grid, (subfigure.bbox_relative.p0, subfigure.bbox_relative.p1)
        )
    for axes in canvas.axes:
        axes.set_position(Bbox.from_bounds(*_on_grid(axes.get_position().bounds)))


def _on_grid(positions: Any) -> list[float]:
    return [round(float(position) * _GRID_POSITIONS) / _GRID_POSITIONS for position in positions]


def _escape_texts(canvas: Canvas) -> None:
    """Escape acting characters in the texts of a picture, except our line ends."""
    from matplotlib.text import Text

    for artist in canvas.findobj(Text):
        text = artist.get_text()
        escaped = "\n".join(map(visible, text.split("\n")))
        if escaped != text:
            artist.set_text(escaped)


def to_svg(figure: Figure, *, narrow: bool = False) -> str:
    """Draw a figure as an SVG element, without the XML prologue."""
    text = render(figure, "svg", narrow=narrow).decode()
    return text[text.index("<svg") :].strip()
