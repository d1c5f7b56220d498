"""The cases that ship with gridcore: ``<name>/case.toml`` each, installed as package ``gridcore_cases``."""
