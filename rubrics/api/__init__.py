"""API endpoints of benchmarks, cases, candidates, responses, banks and imports."""
