"""What is allowed and hardly meant: looks at data and initial states of what was built."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_checks(register: Register) -> None:
    """Warnings of ``gc.build``, and findings of the doctor."""
    register("plausible values", "gridcore_plausibility.values:implausible")
    register("plausible bases", "gridcore_plausibility.values:odd_bases")
    register("plausible powers", "gridcore_plausibility.powers:large_powers")
    register("one slack", "gridcore_plausibility.slacks:several_slacks")
    register("one solution", "gridcore_plausibility.solutions:other_solution")
