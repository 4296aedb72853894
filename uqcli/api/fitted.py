"""What was fitted or read: saved as the command line saves it, and read by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from uqcli.api.columns import Column, table_of
from uqcli.artifacts.codec import encode, load_kind
from uqcli.artifacts.columns import ColumnOverrides, NewColumns
from uqcli.artifacts.saved import Saved
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.errors import DataError
from uqcli.files import write_bytes
from uqcli.reports.render import to_markdown

ModelT = TypeVar("ModelT", bound=Saved)


@dataclass(frozen=True, kw_only=True)
class Fitted(Generic[ModelT]):
    """A fitted model.

    Attributes
    ----------
    artifact
        What ``save`` writes and every command reads.
    notes
        What there is to know of the fit.
    """

    artifact: ModelT
    notes: tuple[str, ...] = ()

    _saved_as: ClassVar[type[Any]] = Saved

    def save(self, path: str) -> None:
        """Write the artifact as JSON; an old file stays until the new one is whole.

        Raises
        ------
        DataError
            The place cannot be written.
        """
        write_bytes(str(path), encode(self.artifact))

    @classmethod
    def load(cls, path: str) -> Self:
        """Read what ``save`` or a command wrote.

        Raises
        ------
        DataError, ArtifactError
            The file is missing, or an artifact of another kind.
        """
        return cls(artifact=load_kind(str(path), cls._saved_as))

    def describe(self) -> str:
        """The model in words and tables, as ``uqcli show`` says it; Markdown."""
        return to_markdown(self.artifact.document())

    def _added(self, given: Mapping[str, Column | None], **form: Any) -> dict[str, np.ndarray]:
        """The columns that the model adds to rows.

        Parameters
        ----------
        given
            By the name that the artifact knows.
        """
        roles = self.artifact.reads(ColumnOverrides())
        needed = roles.columns()
        missing = [name for name in needed if given.get(name) is None]
        if missing:
            raise DataError(f"no {missing[0]} given", expected=f"all of {', '.join(needed)}")
        data = DataRequest(inputs=(), frame=table_of({name: given[name] for name in needed}), roles=roles)
        added = self.artifact.adds(roles, NewColumns(**form))
        parts = [added.compute(rows) for rows in open_engine(data.engine).batches(data)]
        return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in added.types}

    def _columns(self) -> Mapping[str, str]:
        """Role to column name."""
        return self.artifact.source.columns
