"""Rule files: structs, codec, schemas."""
