"""The decisions, without the world: imports the standard library and itself, never awaits."""
