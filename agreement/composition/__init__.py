"""What a benchmark consists of: its cases by every label, its conversations, its criteria, its responses."""
