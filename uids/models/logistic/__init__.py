"""The machinery of linear models: curvature, trainer, preconditioners, leverage. Of logistic
regression, binary and softmax, and of any loss of one score (``uids/models/linear_loss.py``)."""
