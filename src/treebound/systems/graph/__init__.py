"""Graph-based parsing: arc-factored and higher-order linear models that any decoder can search."""
