"""What a trained model can do, a file each: evaluation and tools call the same code."""
