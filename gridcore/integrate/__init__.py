"""Time integration: the driver owns the loop and the events, a stepper owns one step."""
