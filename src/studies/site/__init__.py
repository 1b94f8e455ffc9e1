"""Turn metrics files into tables and notebooks into a site that shows published figures and runs side by side."""
