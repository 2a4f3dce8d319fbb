"""What the server answers besides pages."""
