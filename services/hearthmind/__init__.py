"""Hearthmind: a persistent memory for any LLM client, kept as Markdown notes."""
