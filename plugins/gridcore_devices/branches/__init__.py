"""Lines, transformers and shunts: linear devices of the network."""
