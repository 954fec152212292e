"""Lets templates ask the table of roles whether to show a link: `{% if survey|allows:"…" %}`."""

from django import template

from surveys.access import allows, allows_form

register = template.Library()
register.filter("allows", allows)
register.filter("allows_form", allows_form)
