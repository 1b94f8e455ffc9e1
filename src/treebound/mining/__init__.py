"""Mining of annotation errors: find the words of a treebank for which a model prefers another annotation.

The model has not been trained on the sentences that it judges.
"""
