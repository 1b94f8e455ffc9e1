"""The page Explore: stored sentences with a search, alternatives and rule violations that can be switched on."""
