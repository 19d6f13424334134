"""The security log as pages and files: for operators, for admins of a benchmark, and for each person their own."""
