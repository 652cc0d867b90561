"""Evidence: matches, the gate, promotion, and how they are shown."""
