"""Arc-factored and higher-order linear models, over any decoder."""
