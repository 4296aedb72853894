"""Reports of ``uqcli evaluate``, by kind of rule."""
