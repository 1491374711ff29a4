"""The machinery of the backend numba: compiled loops over rows and columns, on several threads."""
