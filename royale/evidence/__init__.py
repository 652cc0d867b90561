"""Evidence: matches, the gate, promotion, ratings, and the types of their records."""
