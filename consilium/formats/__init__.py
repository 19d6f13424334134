"""How each language writes dates; Django looks here before its own formats."""
