"""The best set of modifiers of one head (a star), for all same-head families at once."""
