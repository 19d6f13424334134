"""Prediction-powered scores: a judge on everything, physicians on a sample."""
