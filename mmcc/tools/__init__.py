"""What a practitioner asks of a trained model: each file one kind of answer."""
