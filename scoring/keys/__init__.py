"""Keys of endpoints: to which hosts the operator bound them, and which benchmarks may use them."""
