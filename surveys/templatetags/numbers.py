"""The functions of surveys/formatting.py as template filters."""

from django import template

from surveys import formatting

register = template.Library()
register.filter(formatting.epsilon)
register.filter(formatting.cap)
register.filter(formatting.delta)
register.filter(formatting.odds_factor)
register.filter(formatting.whole)
register.filter(formatting.moment)
register.filter(formatting.day)
register.filter(formatting.guess)
register.filter(formatting.percent)
register.filter(formatting.points)
register.filter(formatting.margin)
