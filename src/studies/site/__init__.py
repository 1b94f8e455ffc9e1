"""Turn metrics files into tables and notebooks into a site that shows published results beside our runs."""
