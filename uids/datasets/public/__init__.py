"""Public data sets: where their files are, how they come there, and what is made of them."""
