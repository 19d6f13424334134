"""Small shared modules that every app may use: identifiers, transitions, errors, audit, the CSV writer."""
