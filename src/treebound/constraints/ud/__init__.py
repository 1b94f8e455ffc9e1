"""The rules of the validator of Universal Dependencies, as far as heads, labels and tags decide them."""
