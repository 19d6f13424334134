"""What physicians answer about cases: questions, their batches, answers and results."""
