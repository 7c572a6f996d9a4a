"""What translations leave out, add or repeat."""
