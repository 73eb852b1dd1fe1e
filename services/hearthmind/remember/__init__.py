"""Accept, change and forget memories; log what was said."""
