"""The trained judge: its features (`features`), its model (`model`), and its fitting (`fitting`)."""
