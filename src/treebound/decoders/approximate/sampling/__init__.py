"""Trees by sampling and randomised ascent: flat state, moves, chains, and the decoders made of them."""
