"""Pages about the people of a survey, teams, invitations, and leaving."""
