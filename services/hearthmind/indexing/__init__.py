"""From a note to what the stores keep of it: passages, full-text terms, links."""
