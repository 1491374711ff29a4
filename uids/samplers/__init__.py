"""Samplers: from influence to the probability of keeping a row.

A sampler needs one method, ``probabilities(scores)``: an array of numbers in [0, 1], one for
each training row. Two class attributes change what is done with them:

``deterministic = True``
    the rows with the largest numbers are kept, without chance (ties: the earlier row);
``weighted = True``
    the kept rows are weighted by one over their true inclusion probability.

A sampler imports nothing from uids; see ``plugins/uids-sampler-tempered`` for a whole package.
"""
