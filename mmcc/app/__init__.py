"""The explorer: a local page, and the HTTP interface behind it (docs/app.md)."""
