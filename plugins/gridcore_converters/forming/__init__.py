"""Grid-forming converters: filters, inner loops, outer loops and synchronisation as exchangeable parts."""
