"""Scoring: what each training row does to the validation loss, from one solve.

Influence and what follows from it, also without some of the validation rows (cross-fitting), and
the scores that a sampler is given. Knows nothing of samplers, or of what becomes of the rows.
"""
