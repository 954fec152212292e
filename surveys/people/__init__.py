"""Manages the people of surveys: members, teams, invitations, and handing surveys over."""
