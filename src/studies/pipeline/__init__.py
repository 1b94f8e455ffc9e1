"""Define the stages of the DVC pipeline. Stages pass the content of params.yaml to the library as arguments."""
