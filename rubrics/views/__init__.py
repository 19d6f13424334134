"""Pages of benchmarks, cases, candidates and imports."""
