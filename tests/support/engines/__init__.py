"""Three browsers that tests drive in the same way."""
