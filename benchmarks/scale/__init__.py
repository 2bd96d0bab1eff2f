"""What a corpus of a million videos costs, and a search over 10⁷ frames."""
