"""The tables and figures of published papers, each made from the reports of a benchmark as far as its data allow."""
