"""X on a Dask cluster: the backend ``dask``, and data sets that are read where its workers are."""

from uids_dask.backend import Dask

__all__ = ["Dask"]
