"""Tables of a report as files for a paper: LaTeX, Markdown, a workbook, and an archive of everything. No database."""
