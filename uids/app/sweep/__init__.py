"""Sweeps: the points of a grid, each in a folder named by its config.

Hydra's own sweeper refuses a grid in which one point cannot be composed, and knows nothing of
results that are there already. Here

- ``sampler=sigmoid,random sampler.alpha=1,5`` is three points: α is swept where there is an α;
- an experiment may be several grids (``sweep.grids``), where one product of axes would not do;
- a point that is wrong or fails does not stop the others, and stands in the table with its reason;
- a point whose result is there, and would be the same today, is not done again, so a sweep can be
  killed, continued, enlarged.

Composing configs and launching jobs remain Hydra's. What a single run does is not known here.
"""
