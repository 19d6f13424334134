"""Figures about sets of criteria from files alone: no database."""
