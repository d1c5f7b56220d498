"""What gridcore finds: the entry point ``example_dc`` of pyproject.toml names this module."""

from gridcore import hookimpl


@hookimpl
def register_devices(register):
    from .devices import DEVICES

    for device in DEVICES:
        register(device)
