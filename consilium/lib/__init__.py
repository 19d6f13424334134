"""Small shared pieces that every app may use: identifiers, transitions, errors, audit, the CSV writer."""
