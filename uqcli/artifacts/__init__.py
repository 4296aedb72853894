"""The saved models: structs, codec, schemas."""
