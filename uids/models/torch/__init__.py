"""The machinery of the torch models: scores, automatic differentiation, L-BFGS, networks."""
