"""Integer programs: from parts, as stated by Riedel & Clarke (2006), and cut by cut."""
