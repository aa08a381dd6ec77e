"""Teams: runs in which the engine owns every rule and agents do the domain work."""
