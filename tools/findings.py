# What a check of the project has found, said to whoever runs it. Knows nothing of what is checked.
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def report(check, findings):
    """Prints each (path, line, text) whose text says something, and exits with their number if there are any."""
    findings = [finding for finding in findings if finding[2]]
    for path, number, text in findings:
        print(f"{path.relative_to(ROOT)}:{number}: {text}")
    if findings:
        sys.exit(f"{check}: {len(findings)} finding(s)")
    print(f"{check}: OK")
