"""Failures that raters mark in responses: how often, how they agree, and together with what."""
