"""What tasks are made of where one file would be too long; a task has its slug for a name."""
