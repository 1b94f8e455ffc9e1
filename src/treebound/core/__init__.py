"""Types that all other packages use. The package depends on numpy only."""
