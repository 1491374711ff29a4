"""Samplers: from influence to the probability of keeping a row.

Knows nothing of ratios, of drawing, or of what is trained on the rows.

A sampler needs one method, ``probabilities(scores)``: an array of numbers in [0, 1], one for
each training row. Two class attributes change what is done with them:

``deterministic = True``
    the rows with the largest numbers are kept, without chance (ties: the earlier row);
``weighted = True``
    the kept rows are weighted by one over their true inclusion probability, brought to mean 1
    unless the sampler has an attribute ``normalise`` that is false.

A method ``gradient_bound(scores)`` may return σ, the largest |dπ/dφ|, which bounds how sharply the
worst-case risk can change (theorem 3); it is shown in the metrics. Dropout has none: it is a step.

With ``ratio=auto`` the ratio of any sampler is chosen. A field ``alpha`` that takes the word "auto"
(``alpha: float | str``) is chosen too; a method ``alpha_unit(scores)`` may name the unit in which
the values are tried.

A class attribute ``needs_trusted_rows = False`` says that it does not look at φ: with
``sampler=auto`` it then takes part even where the validation rows are no cleaner than the training
rows. A method ``alternatives()`` that returns names of samplers leaves the choice among them to
cross-fitting.

A sampler need not import anything from uids: ``plugins/uids-sampler-tempered`` is a whole package.
"""
