"""What was found, for people: tables, plots, and pages that need nothing beside them."""
