"""DataFrames to figures, trees to SVG."""
