"""The paper's tables: what to train, what to measure, how to lay it out."""
