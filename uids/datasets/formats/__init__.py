"""A person's own files, one format a module; public sets in the same format are read by it too."""
