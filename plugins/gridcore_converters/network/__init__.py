"""Lines and loads whose inductor currents are states, beside which the fast loops of converters are seen."""
