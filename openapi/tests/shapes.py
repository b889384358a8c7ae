"""The document of a project with tools of every shape and name, as openapi-python-client reads it.

`cargo xtask test --only clients` generates the client as the package `toolgate_shapes` on the path, fails at every warning,
and runs this file. It reports in TAP.
"""

import importlib
import os
import pkgutil
import sys
import traceback
import warnings

import toolgate_shapes.api.tools
import toolgate_shapes.models


def modules(package) -> list[str]:
    found = pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    return [module.name for module in found]


def has_a_module_for_every_tool() -> None:
    names = modules(toolgate_shapes.api.tools)
    assert len(names) == int(os.environ["TOOLGATE_TOOLS"]), names


def imports_every_module() -> None:
    warnings.simplefilter("error")
    for name in modules(toolgate_shapes.models) + modules(toolgate_shapes.api.tools):
        importlib.import_module(name)


def main() -> int:
    failed = 0
    steps = [has_a_module_for_every_tool, imports_every_module]
    print(f"1..{len(steps)}")
    for number, step in enumerate(steps, start=1):
        outcome = "ok"
        try:
            step()
        except Exception:
            traceback.print_exc()
            outcome, failed = "not ok", 1
        print(f"{outcome} {number} - openapi-python-client {step.__name__.replace('_', ' ')}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
