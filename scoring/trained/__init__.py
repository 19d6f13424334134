"""The trained judge: what it looks at (`features`), what it is (`model`), how it is fitted (`fitting`)."""
