"""The records of one model as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridcore.case import as_case, validate
from gridcore.contract import Node

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run


def table(case: Case | Equilibrium | Run | str | Path, model: str) -> pd.DataFrame:
    """The records of one model in a case, ``case.table("GENROU")``.

    Every field is in its declared unit, defaults are filled in. It is a copy: :meth:`gridcore.Case.set` changes the
    case.

    Parameters
    ----------
    case : Case or Equilibrium or Run or str
    model : str
        Name of a device class.

    Returns
    -------
    pandas.DataFrame
        A row for each record, by id; columns are ports, words, parameters and, but of nodes, ``status``; units are in
        ``table.attrs["units"]``.

    Raises
    ------
    CaseError
        If the case is not valid; file, row and field are told.
    PluginError
        If no plugin has such a model; the nearest are offered.
    """
    import pandas as pd

    from gridcore.registry import devices

    cls = devices[model]
    declared, found = cls.declares, validate(as_case(case)).of(model)
    columns = {name: [i.ports[name] for i in found] for name in cls.attaches}
    columns |= {name: [i.words[name] for i in found] for name in (*declared.references, *declared.fields)}
    numbers = {name: [i.values[name] for i in found] for name in declared.params}
    status = {} if issubclass(cls, Node) else {"status": [int(i.in_service) for i in found]}
    made = pd.DataFrame({**columns, **numbers, **status}, pd.Index([i.id for i in found], name="id", dtype=object))
    made.attrs["units"] = {name: param.unit for name, param in declared.params.items()}
    return made
