"""Lets templates consult the table of roles before a link: `{% if survey|allows:"…" %}`."""

from django import template

from surveys.access import allows, allows_form

register = template.Library()
register.filter("allows", allows)
register.filter("allows_form", allows_form)
