"""What a release holds: cases in two forms, tables, schemas, metadata, and the record of how it was made."""
