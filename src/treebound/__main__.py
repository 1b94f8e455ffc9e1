"""The command line as `python -m treebound`, for environments whose folder of commands is not in PATH."""

from treebound.cli import main

if __name__ == "__main__":
    main()
