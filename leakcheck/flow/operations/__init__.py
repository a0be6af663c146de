"""What happens to values: containers, frames and arrays, library callables and library objects."""
