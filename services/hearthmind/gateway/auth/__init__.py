"""Who is calling, and from where."""
