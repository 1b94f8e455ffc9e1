"""Parameters and DVC stages: the only place that reads params.yaml or the environment."""
