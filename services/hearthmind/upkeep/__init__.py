"""Keep the derived stores true to the vault."""
