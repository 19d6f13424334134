"""How urgent a case is: scales of levels, and what labels from elsewhere mean on them."""
