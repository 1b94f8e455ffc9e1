"""The best set of modifiers of one head (a head star), for all families at one head together."""
