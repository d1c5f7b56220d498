"""Direct current: nodes, cables, capacitors, and voltage-source converters between them and AC buses."""
