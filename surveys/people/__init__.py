"""People of surveys: members, teams, invitations, and handing surveys over."""
