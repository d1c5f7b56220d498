"""Direct current by line-commutated converters."""
