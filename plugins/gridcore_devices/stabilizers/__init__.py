"""Power system stabilizers: they hang on an exciter and drive its stabilizing signal."""
