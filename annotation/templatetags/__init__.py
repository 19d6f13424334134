"""What templates of ``annotation`` need beyond Django's own."""
