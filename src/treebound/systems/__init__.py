"""The systems that can be trained, one package each. No system imports another system."""
