"""Types that everything speaks. Imports numpy alone."""
