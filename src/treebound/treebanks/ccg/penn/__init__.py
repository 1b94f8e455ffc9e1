"""Penn trees -> CCG derivations (Hockenmaier & Steedman 2007), rule by rule.

`tree` what is translated; the steps of preprocessing in their order: `tags`, `clauses`, `coordination`, `nouns`;
`roles` heads, complements, adjuncts and the categories of constituents; `assign` the categories from the root down;
`close` prepositional complements where they are not marked, `clusters` of arguments; `translate` all of it for a tree.
"""
