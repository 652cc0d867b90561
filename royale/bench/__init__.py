"""Measuring real training: how fast it is here, and which resource holds it up."""
