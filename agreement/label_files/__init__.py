"""Labels of physicians and judges in files: no database."""
