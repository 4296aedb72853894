"""Report of ``uqcli show``: a saved rule in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uqcli.base.records import dataclass
from uqcli.base.wording import rows_of
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult
from uqcli.rules.codec import content_of
from uqcli.rules.saved import Saved


@dataclass(frozen=True, kw_only=True)
class ShowReport(OneResult):
    """A saved rule of any kind."""

    rule: Saved

    @property
    def metrics(self) -> Metrics:
        """Numbers of the rule."""
        return self.rule.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: the rule as saved. A digest that does not match is null, with the reason."""
        content = content_of(self.rule)
        if not self.rule.unsealed:
            return content
        return {**content, "digest": None, "seal": str(self.rule.seal)}

    def document(self) -> Document:
        """Return the readable form."""
        document = self.rule.document()
        card = document.card or HeadCard(title=document.title)
        return replace(
            document,
            cautions=[f"{self.rule.unsealed}."] if self.rule.unsealed else [],
            card=replace(
                card,
                title=f"Saved rule: {card.title[:1].lower()}{card.title[1:]}",
                subject=f"What {{rules}} does; it was fitted on {rows_of(self.rule.source.rows)}.",
                action="Test it with uqcli evaluate, or apply it to new rows with uqcli apply.",
            ),
        )
