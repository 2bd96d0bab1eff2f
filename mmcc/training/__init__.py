"""From batches to a checkpoint: the loop, its schedules, what it writes, and how it is stopped and resumed."""
