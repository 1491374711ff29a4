"""The command ``uids``: the command line, Hydra's configs, jobs, sweeps and the progress bar.

The last room: nothing imports it. Only here are Hydra and OmegaConf known, and only here is
anything printed. Computes nothing and writes no result itself; the pipeline and the report do.
"""
