"""The stages of drafting by rules: from a conversation and passages to facts, needs and criteria. Pure.

Lists of words are in `word_lists`, sentences that are put into answers in `sentences`. `consilium.llm.rules.words` says
the rules in words.
"""
