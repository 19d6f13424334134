"""Banks of reusable criteria: the one that comes with the product, and imported ones."""
