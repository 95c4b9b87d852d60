"""What costly steps made, kept on disk: a run that was stopped goes on where it was."""
