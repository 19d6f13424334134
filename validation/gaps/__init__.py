"""What the rubric of a case lacks, for its author: from runs that measured a set made of the published rubrics."""
