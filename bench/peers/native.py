"""Sources that rivals generate, as shared libraries. A library is kept in build/peers under a name that is made of its
source and of the compiler's command, so that it is compiled once."""
import hashlib
import os
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build/peers"
OPTIMISED = ("-O3", "-march=native", "-shared", "-fPIC")


def library(source, compiler, options=()):
    """The path of the library; `compiler` is a command, such as gcc."""
    command = [compiler, *OPTIMISED, *options]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    name = hashlib.sha256("\0".join([source, version, *command]).encode()).hexdigest()[:24]
    made = FOLDER / f"{name}.so"
    if not made.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        written, part = FOLDER / (name + (".c" if compiler == "gcc" else ".cpp")), FOLDER / f"{name}.{os.getpid()}"
        written.write_text(source)
        done = subprocess.run([*command, str(written), "-o", str(part)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{compiler} failed:\n{done.stderr[-1000:]}")
        part.replace(made)
    return str(made)
