"""What gridcore finds: the entry point ``example_integrator`` of pyproject.toml names this module."""

from gridcore import hookimpl


@hookimpl
def register_integrators(register):
    register("sdirk2", "gridcore_example_integrator.sdirk2:Sdirk2")
