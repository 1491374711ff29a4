"""The backend ``jax`` of uids: X on a device, and the products with it compiled by XLA."""

from uids_backend_jax.backend import Jax

__all__ = ["Jax"]
