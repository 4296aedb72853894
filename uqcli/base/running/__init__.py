"""How a run goes: threads, memory, progress, cautions, and how signals end it."""
