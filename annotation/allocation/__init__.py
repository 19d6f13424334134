"""Allocates responses to physicians: plain values, no Django."""
