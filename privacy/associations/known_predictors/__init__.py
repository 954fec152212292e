"""Logistic regression on predictors that are known, not randomized."""
