"""Factor families: one file each."""
