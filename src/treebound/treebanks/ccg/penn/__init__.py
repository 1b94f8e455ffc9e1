"""Translation of Penn trees into CCG derivations (Hockenmaier & Steedman 2007), rule by rule.

- `tree`: the trees that are translated.
- `tags`, `clauses`, `coordination`, `nouns`: the steps of preprocessing, in this order.
- `roles`: heads, complements, adjuncts and the categories of constituents.
- `assign`: categories, assigned from the root down.
- `close`: prepositional complements in treebanks that do not mark them.
- `clusters`: argument clusters.
- `translate`: the translation of a tree in all steps.
"""
