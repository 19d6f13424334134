"""How physicians come to a benchmark: applications, rules of eligibility, licences, admission, rotation."""
