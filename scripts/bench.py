"""Bench of a machine profile."""
