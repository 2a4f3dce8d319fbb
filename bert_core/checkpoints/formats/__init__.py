"""Reading and writing weight files; none of it runs code found in them."""
