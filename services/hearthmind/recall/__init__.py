"""From a question to the right notes, and nothing else."""
