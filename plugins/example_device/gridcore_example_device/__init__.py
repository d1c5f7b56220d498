"""What gridcore finds: the entry point ``example_device`` of pyproject.toml names this module."""

from gridcore import hookimpl


@hookimpl
def register_devices(register):
    from .stalling import StallingLoad

    register(StallingLoad)
