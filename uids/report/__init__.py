"""What a run leaves behind: files, tables, figures, pages. Nothing is computed here."""
