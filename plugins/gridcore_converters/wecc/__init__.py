"""Models of wind, solar and storage plants of the second WECC generation, as PSS/E names them."""
