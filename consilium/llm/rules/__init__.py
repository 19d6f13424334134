"""An endpoint that follows rules and is no language model, for demos and tests without network.

What it answers is a pure function of the request: it reads stage and fenced texts (`consilium.llm.staged`) and answers
in the stage's form. A stage is a module with a function from texts to an answer; `stages.STAGES` lists them.
`words.RULES` says the same rules in words; whoever changes a rule changes both.
"""
