"""What differs between a claim and the sentence nearest to it, one kind of difference a file."""
