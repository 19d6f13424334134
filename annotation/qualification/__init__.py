"""Qualification of annotators: keys, qualification attempts, and gold items among the work."""
