"""Files that people write for agents: found, read as text, parted from their front matter, told what is wrong."""
