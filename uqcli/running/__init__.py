"""Run-wide state: progress, remarks, temporary files, memory."""
