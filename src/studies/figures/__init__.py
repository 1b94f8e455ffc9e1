"""DataFrames in, matplotlib `Figure`s out."""
