"""What the captures of all frameworks share."""
