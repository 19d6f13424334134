"""Requests that somebody on a page waits for. A worker sends them, so that a slow endpoint holds no web thread."""
