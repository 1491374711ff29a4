"""The machinery of logistic regression, binary and softmax: curvature, trainer, preconditioners."""
