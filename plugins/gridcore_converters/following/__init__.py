"""Grid-following converters: current control in the frame of a phase-locked loop."""
