"""What the intake is measured against: the same report taken by a plain view."""
