"""A client for OpenAI-compatible chat endpoints, the prompts of judges, and the strict parsing of answers.

No models and no Django: what may be called, and with which key, comes in as arguments. A request fails in one of two
ways that are never mixed up: `TransportError`, the endpoint did not answer, so nothing is known; `ContentError`, the
model answered something that is not a verdict.
"""
