"""What the intake is compared with: the same reports accepted by a plain view."""
