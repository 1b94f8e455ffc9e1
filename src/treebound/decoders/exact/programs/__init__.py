"""Integer programs: with parts, as stated by Riedel & Clarke (2006), and with constraints added when broken."""
