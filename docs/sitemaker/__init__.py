"""Pages that are made when the site is built: for each device, verb and package, from declarations and docstrings."""
