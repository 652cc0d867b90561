"""What users edit, read and checked: profiles, ladders, and what follows from them."""
