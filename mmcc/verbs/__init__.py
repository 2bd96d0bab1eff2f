"""The verbs that ask a trained model about footage: a file each, and no logic of their own."""
