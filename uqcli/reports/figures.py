"""Drawing of figures with matplotlib, to reproducible bytes."""

from __future__ import annotations

import html
import importlib.util
import io
import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from uqcli.base.errors import MissingExtraError, UsageError, words
from uqcli.base.wording import printable, visible
from uqcli.reports.document import Figure, HoverText, Report
from uqcli.stores.output import write_bytes

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
    """Raise MissingExtraError if matplotlib is not installed."""
    if not can_draw():
        raise MissingExtraError(
            "figures need matplotlib",
            expected="the extra 'report'",
            remedy='pip install "uqcli[report]", or ask for a .json report',
        )


def check_plot_name(name: str) -> str:
    """Return the format of a picture from the ending of its file name: png, svg or pdf."""
    suffix = Path(name).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UsageError(words("--plot '{}' has no known ending", name), expected=".png, .svg or .pdf")
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


def label_lines(axes: Axes, names: Sequence[str], characters: int = _MAX_NAME_CHARACTERS) -> None:
    """Give each name a line, the first on top."""
    axes.set_yticks(range(len(names)), [printable(name, characters) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    draw_grid_lines(axes, "x")


def wrap_title(title: str) -> str:
    """Wrap a title to the width of a narrow figure."""
    import textwrap

    return "\n".join(textwrap.wrap(printable(title, 120), 44)) or " "


def rendered(report: Report, name: str) -> bytes:
    """Render the figure of a report as the ending of a name says."""
    file_format = check_plot_name(name)
    require_drawing()
    figures = report.document().figures
    if not figures:
        raise UsageError(
            words("--plot: this report has no figure"), expected=words("no --plot for such rules")
        )
    return render(figures[0], file_format)


def save_figure(report: Report | None, path: str) -> None:
    """Write the figure of a report, whose format is the ending of the path; a loaded rule has no report."""
    if report is None:
        raise UsageError("a loaded rule has no figure", expected="the figure of its fit or of evaluate()")
    write_bytes(str(path), rendered(report, str(path)))


def render(figure: Figure, file_format: str) -> bytes:
    """Draw a figure in a file format, the same bytes each time."""
    return _draw(figure, file_format, (figure.width, figure.height))[0]


def _draw(
    figure: Figure, file_format: str, size: tuple[float, float]
) -> tuple[bytes, list[str], dict[str, Frame]]:
    """Draw a figure; also return its areas with texts, and the frames of its named axes."""
    require_drawing()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[file_format]
    with _program_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        texts = figure.draw(canvas)
        _escape_texts(canvas)
        _freeze_layout(canvas)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format=file_format, metadata=undated)
        areas = [_hover_area(canvas, text) for text in texts]
        frames = {str(axes.get_gid()): _frame(canvas, axes) for axes in canvas.axes if axes.get_gid()}
    return buffer.getvalue(), areas, frames


@contextmanager
def _program_style() -> Iterator[None]:
    """Use the program's style instead of any matplotlibrc, without warnings.

    Raises UsageError if matplotlib cannot be loaded, for example with a matplotlibrc that is not text.
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


Frame: TypeAlias = dict[str, tuple[float, float]]
"""Axes in an SVG picture: ends in points (x from left, y from bottom to top), and the values there."""

_SMALLEST: Final = 8.0
"""Least width and height of an area with a text, in points."""


def _points(canvas: Canvas, axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Convert values on axes to points from the upper left corner of the picture."""
    across, up = axes.transData.transform((x, y)) * (72 / canvas.dpi)
    return float(across), float(72 * canvas.get_figheight() - up)


def _hover_area(canvas: Canvas, hover: HoverText) -> str:
    """Return an area as a rectangle of SVG, within its axes, and large enough to point at."""
    low, high = (sorted(ends) for ends in (hover.axes.get_xlim(), hover.axes.get_ylim()))
    x = [min(max(end, low[0]), low[1]) for end in hover.x]
    y = [min(max(end, high[0]), high[1]) for end in hover.y]
    (left, bottom), (right, top) = (_points(canvas, hover.axes, *ends) for ends in zip(x, y, strict=True))
    across, down = (max(0.0, (_SMALLEST - size) / 2) for size in (right - left, bottom - top))
    width, height = right - left + 2 * across, bottom - top + 2 * down
    return (
        f'<rect x="{left - across:.1f}" y="{top - down:.1f}" width="{width:.1f}" height="{height:.1f}">'
        f"<title>{html.escape(visible(hover.text))}</title></rect>\n"
    )


def _frame(canvas: Canvas, axes: Axes) -> Frame:
    (left, bottom), (right, top) = (
        _points(canvas, axes, *ends) for ends in zip(axes.get_xlim(), axes.get_ylim(), strict=True)
    )
    ends = {"x": (left, right), "y": (bottom, top)}
    return ends | {"x_values": axes.get_xlim(), "y_values": axes.get_ylim()}


_OUTLINE: Final = re.compile(r'(?<= d=")[^"]+')
_STYLE_ATTRIBUTE: Final = re.compile(r'(?<= style=")[^"]+')
_POSITION: Final = re.compile(r'(?<= [xy]=")-?\d+\.\d{2,}')
_COORDINATE: Final = re.compile(r"-?\d+\.\d{2,}")
"""Outlines of shapes, positions of copies, and coordinates with more digits than a screen shows."""


def to_svg(figure: Figure) -> str:
    """Draw a figure as an SVG element, without the XML prologue."""
    return _element(render(figure, "svg"))


def to_page_svg(figure: Figure, prefix: str, *, narrow: bool = False) -> tuple[str, dict[str, Frame]]:
    """Draw a figure as a short SVG element whose areas have texts; also return the frames of its named axes.

    Its identifiers begin with a prefix that is unique in a page.
    """
    size = (NARROW, figure.narrow_height) if narrow else (figure.width, figure.height)
    picture, areas, frames = _draw(figure, "svg", size)
    hover = f'<g class="values" fill="none" pointer-events="all">\n{"".join(areas)}</g>\n' if areas else ""
    return f"{_short(_element(picture), prefix).removesuffix('</svg>')}{hover}</svg>", frames


def _short(picture: str, prefix: str) -> str:
    """Shorten a picture: no metadata, one decimal of a point, and only identifiers that are used."""
    picture = re.sub(r"<metadata>.*?</metadata>", "", picture, count=1, flags=re.DOTALL)
    picture = re.sub(r'<g id="text_\d+"', '<g class="text"', picture)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', picture))
    picture = re.sub(
        r' id="([^"]+)"', lambda name: f' id="{prefix}{name[1]}"' if name[1] in used else "", picture
    )
    picture = re.sub(r'(href="|url\()#', rf"\1#{prefix}", picture)
    picture = _POSITION.sub(_one_decimal, _OUTLINE.sub(_short_outline, picture))
    picture = _STYLE_ATTRIBUTE.sub(lambda style: re.sub(r"([:;]) ", r"\1", style[0]), picture)
    return re.sub(r">\s+<", "><", picture.replace(" xlink:href=", " href="))


def _short_outline(path: re.Match[str]) -> str:
    outline = re.sub(r"\s+(?=[A-Za-z])|(?<=[A-Za-z])\s+", "", _COORDINATE.sub(_one_decimal, path[0]))
    return re.sub(r"(L[^A-Za-z]+)\1+", r"\1", outline).strip()  # points that have become equal


def _one_decimal(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}"


def _element(picture: bytes) -> str:
    text = picture.decode()
    return text[text.index("<svg") :].strip()
