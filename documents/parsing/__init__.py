"""From the bytes of a document to its text and passages, without Django."""
