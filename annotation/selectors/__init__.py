"""What pages, the API and reports read of the work; nothing here writes."""
