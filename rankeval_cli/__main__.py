"""`python -m rankeval_cli` is `rankeval`."""

from rankeval_cli.cli import main

main()
