"""What the command line offers without importing the machinery that it stands for."""

T_END = 5.0  # s: machines have left their second swing behind
