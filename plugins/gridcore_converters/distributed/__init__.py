"""Distributed generation, aggregated at a bus of the transmission network."""
