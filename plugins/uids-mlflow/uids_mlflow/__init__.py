"""The reporter ``mlflow`` of uids: runs and sweeps to MLflow."""

from uids_mlflow.reporter import MLflow

__all__ = ["MLflow"]
