"""The command line: parse, call the job, render, exit."""
