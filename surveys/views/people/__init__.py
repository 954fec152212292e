"""Pages about people: those of a survey, teams, invitations, and leaving."""
