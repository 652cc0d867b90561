"""What every job of the workflow shares: its log and progress, the lock of its folder, its end."""
