"""Tagging: a linear-chain averaged perceptron, and predicted tags of a training set by jackknifing."""
