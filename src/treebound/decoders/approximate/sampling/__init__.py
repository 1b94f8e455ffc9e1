"""Search for trees by sampling and randomised ascent: flat state, moves, chains, and decoders built from them."""
