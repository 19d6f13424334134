"""Views of benchmarks, cases, candidates and imports."""
