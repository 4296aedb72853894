"""Reports as HTML pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uqcli.reports.format import Failure, Format, RunContext, escaped, html_page

if TYPE_CHECKING:
    from uqcli.reports.document import Report


def _render(report: Report, context: RunContext) -> str:
    from uqcli.reports.page import file_names, page_content, to_html

    return to_html(
        *page_content(report, context),
        heading=context.heading,
        line=context.line,
        step=context.step,
        names=file_names(context),
    )


def _failed(failure: Failure) -> str:
    style = (
        ":root{color-scheme:light dark}"
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
        "overflow-wrap:anywhere}"
    )
    paragraph = f"<p>Error (exit code {failure.exit_code}): {escaped(str(failure))}</p>\n"
    return html_page(failure.title, style, f"<h1>{escaped(failure.title)}</h1>\n{paragraph}")


FORMAT: Final = Format(render=_render, failed=_failed, is_page=True, needs_digests=True, needs_rules=True)
