"""Global features of trees, in one module per feature, and a catalogue of them."""
