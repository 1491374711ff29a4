"""The registries, with what uids itself brings: one line for each component."""

from __future__ import annotations

from uids.registry.entry import Entry
from uids.registry.registry import Registry

REGISTRIES: dict[str, Registry] = {
    registry.kind: registry
    for registry in (
        Registry(
            "dataset",
            {
                "adult": "uids.datasets.public.libsvm_sets:Adult",
                "avazu_app": "uids.datasets.public.click_logs:AvazuApp",
                "avazu_site": "uids.datasets.public.click_logs:AvazuSite",
                "breast_cancer": "uids.datasets.public.breast_cancer:BreastCancer",
                "breast_cancer_scale": "uids.datasets.public.libsvm_sets:BreastCancerScale",
                "cifar10_cat_dog": "uids.datasets.public.cifar:Cifar10CatDog",
                "covtype": "uids.datasets.public.libsvm_sets:Covtype",
                "criteo": "uids.datasets.public.click_logs:Criteo",
                "csv": "uids.datasets.formats.csv:Csv",
                "diabetes_scale": "uids.datasets.public.libsvm_sets:DiabetesScale",
                "digits": "uids.datasets.public.digits:Digits",
                "libsvm": "uids.datasets.formats.libsvm:Libsvm",
                "mnist_1_7": "uids.datasets.public.mnist:Mnist17",
                "news20": "uids.datasets.public.libsvm_sets:News20",
                "npz": "uids.datasets.formats.npz:Npz",
                "parquet": "uids.datasets.formats.parquet:Parquet",
                "real_sim": "uids.datasets.public.libsvm_sets:RealSim",
                "skin_nonskin": "uids.datasets.public.libsvm_sets:SkinNonskin",
                "svhn_1_7": "uids.datasets.public.libsvm_sets:Svhn17",
                "wine": "uids.datasets.public.wine:Wine",
            },
        ),
        Registry(
            "model",
            {
                "logreg": "uids.models.logreg:LogisticRegression",
                "torch_logreg": ("uids.models.torch_logreg:TorchLogisticRegression", "torch"),
                "torch_module": ("uids.models.torch_module:TorchModule", "torch"),
            },
        ),
        Registry(
            "solver",
            {
                "auto": "uids.solvers.auto:Auto",
                "cg": "uids.solvers.cg:CG",
                "direct": "uids.solvers.direct:Direct",
                "lissa": "uids.solvers.lissa:LiSSA",
                "nystrom": "uids.solvers.nystrom:Nystrom",
                "pcg": "uids.solvers.pcg:PCG",
            },
        ),
        Registry(
            "sampler",
            {
                "auto": "uids.samplers.auto:Auto",
                "confident": "uids.samplers.confident:Confident",
                "dropout": "uids.samplers.dropout:Dropout",
                "linear": "uids.samplers.linear:Linear",
                "local_case_control": "uids.samplers.local_case_control:LocalCaseControl",
                "loss": "uids.samplers.loss:Loss",
                "mmse": "uids.samplers.mmse:MMSE",
                "mvc": "uids.samplers.mvc:MVC",
                "optimal": "uids.samplers.optimal:Optimal",
                "random": "uids.samplers.random:Random",
                "sigmoid": "uids.samplers.sigmoid:Sigmoid",
            },
        ),
        Registry(
            "backend",
            {
                "auto": "uids.backends.auto:Auto",
                "numba": "uids.backends.numba:Numba",
                "numpy": "uids.backends.numpy:Numpy",
                "torch": ("uids.backends.torch:Torch", "torch"),
            },
        ),
    )
}

# Where else a finished run goes. No part of a run: it decides none of its numbers.
REPORTERS = Registry("reporter", {})

# Whatever a command line can choose from by group=name.
GROUPS: dict[str, Registry] = {**REGISTRIES, REPORTERS.kind: REPORTERS}


def plugins() -> list[Entry]:
    """Every component that comes from another package than uids."""
    return [
        entry
        for registry in GROUPS.values()
        for entry in registry.entries()
        if entry.package != "uids"
    ]
