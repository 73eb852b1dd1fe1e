"""Embedders: text to vectors, in this process or at a server, by one setting."""

from hearthmind.stores.embedders.choose import Choice, Options, build, choose
from hearthmind.stores.embedders.prefixes import Prefixes

__all__ = ["Choice", "Options", "Prefixes", "build", "choose"]
