"""The skeleton of an HTML page."""

from __future__ import annotations

from typing import Final

from uqcli.reports.format import escaped

_NO_SCRIPTS: Final = "default-src 'none'; style-src 'unsafe-inline'"


def html_page(title: str, style: str, content: str, *, script: str = "", policy: str = _NO_SCRIPTS) -> str:
    """Build an HTML page that loads nothing; its content security policy must allow the script."""
    scripts = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{content}{scripts}</body>\n</html>\n"
    )
