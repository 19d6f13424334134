"""What pages, the API and other apps read of benchmarks; nothing here writes."""
