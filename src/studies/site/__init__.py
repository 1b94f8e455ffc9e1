"""From metrics files to tables, from notebooks to a site: published, reference and this run, side by side."""
