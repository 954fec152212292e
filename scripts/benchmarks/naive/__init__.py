"""A plain view that accepts the same reports, for comparison with the intake."""
