"""What gridcore finds: the entry point ``example_device`` of pyproject.toml names this module."""

from gridcore import hookimpl


@hookimpl
def register_devices(register):
    from .stalling import StallingLoad

    register(StallingLoad)


@hookimpl
def register_objective_kinds(register):
    register("smooth peak", "gridcore_example_device.peak:of_file", fields=("sharpness",))
