"""Synchronous machines and the infinite bus."""
