"""Functions for arrays, as earlier versions had them: forwards to the functions of ``uqcli.commands``."""
