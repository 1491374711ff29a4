"""Loops in machine code: all that numba compiles for the backend, and nothing else."""
