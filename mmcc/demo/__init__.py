"""Everything put together for people: the report of a run, and the demo."""
