"""Where bytes are: files of this machine, objects of a store, answers of a web server."""
