"""φ of one dense problem by pyDVL's DirectInfluence: peer_pydvl.py PROBLEM.npz ANSWER.npz.

Runs in the peers' own environment and imports nothing of uids.
"""

import sys

import numpy as np
import torch
from pydvl.influence.torch import DirectInfluence
from torch.utils.data import DataLoader, TensorDataset

problem = np.load(sys.argv[1], allow_pickle=False)
X, y, Xv, yv = (
    torch.from_numpy(problem[name]).double() for name in ("X", "y", "X_validation", "y_validation")
)
model = torch.nn.Linear(X.shape[1], 1, bias=False).double()
with torch.no_grad():
    model.weight.copy_(torch.from_numpy(problem["theta"])[None])


def loss(scores, labels):
    return torch.nn.functional.binary_cross_entropy_with_logits(scores[:, 0], labels.reshape(-1))


rows = DataLoader(TensorDataset(X, y[:, None]), batch_size=len(X))
influence = DirectInfluence(model, loss, regularization=float(problem["ridge"])).fit(rows)
found = influence.influences(Xv, yv[:, None], X, y[:, None])
np.savez(sys.argv[2], influence=found.detach().numpy().sum(axis=0))
