"""``python -m uqcli``."""

from uqcli.cli.app import main

main()
