"""foveate side by side with others: one workload, every system in its own process, one judge."""
