"""The catalog of a space in SQLite: one derived file, rebuilt from the vault whenever it is in doubt."""

from hearthmind.stores.catalog.open import open_catalog
from hearthmind.stores.catalog.sqlite import SqliteCatalog

__all__ = ["SqliteCatalog", "open_catalog"]
