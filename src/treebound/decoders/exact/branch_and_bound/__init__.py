"""Branch and bound with bounded non-local factors (Qian & Liu 2013), its search and its bounds."""
