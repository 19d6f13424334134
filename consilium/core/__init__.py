"""Mechanisms of the running product that know no app; every app may use them."""
