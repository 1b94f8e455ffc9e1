"""Part-of-speech tagging: a linear-chain averaged perceptron and tags for training by jackknifing."""
