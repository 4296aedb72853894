"""Request of ``uqcli conformal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.errors import UsageError, words
from uqcli.base.options import choice, filled, flag, option, several
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest, Inputs


def _alphas(option: str, text: str) -> tuple[tuple[str, str], ...]:
    """Parse ``CLASS=A,...`` to pairs."""
    alpha_by_class: dict[str, str] = {}
    for item in text.split(","):
        name, equals, value = item.rpartition("=")
        if not equals or name.strip() in alpha_by_class:
            raise UsageError(words("{} '{}'", option, text), expected="CLASS=A,... with each class once")
        alpha_by_class[name.strip()] = value.strip()
    return tuple(alpha_by_class.items())


@dataclass(frozen=True, kw_only=True)
class ConformalRequest:
    """Coverage of the prediction sets, overall or by class or group; alphas are decimals as typed."""

    panel: ClassVar = "Sets"

    alpha: str = option(
        "A", "Share of rows whose set may miss the true class.", defaults.MISCOVERAGE, common=True
    )
    method: ConformalMethod = choice(
        "aps: classes by cumulative probability; lac: classes above a threshold.", defaults.CONFORMAL_METHOD
    )
    mode: ConformalMode = choice(
        "Coverage over all rows (marginal), in each class (label-conditional), or under other class "
        "priors (label-shift).",
        defaults.CONFORMAL_MODE,
        common=True,
        metavar="NAME",
    )
    alpha_by_class: tuple[tuple[str, str], ...] = option(
        "CLASS=A,...", "label-conditional: other alphas for some classes.", (), parse=_alphas
    )
    by: str | None = option(
        "COL", "marginal: coverage in each group of this column; new groups use all rows."
    )
    shift: str | None = option("SHIFT.json", "label-shift: saved class weights.", guarded=True)
    target: Inputs = several(
        "FILE", "label-shift: unlabelled new data, instead of --shift (repeatable).", guarded=True
    )
    no_randomize: bool = flag("aps: larger sets without random draws.")
    seed: int = option("S", "Seed of the random draws.", defaults.SEED, min=0, max=defaults.MAX_SEED)
    data: DataRequest = filled()
