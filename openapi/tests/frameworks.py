"""The document of a project with tools of every shape and name, as LangChain reads it.

`cargo xtask test --only clients` names the document in the environment. It reports in TAP.
"""

import os
import sys
import traceback
from pathlib import Path

from langchain_community.tools.openapi.utils.api_models import APIOperation
from langchain_community.utilities.openapi import OpenAPISpec

DOCUMENT = Path(os.environ["TOOLGATE_DOCUMENT"])
TOOLS = int(os.environ["TOOLGATE_TOOLS"])


def main() -> int:
    spec = OpenAPISpec.from_file(DOCUMENT)
    # Whatever the parser cannot read it leaves out.
    assert len(spec.paths) == TOOLS, f"{len(spec.paths)} of {TOOLS}"
    failed = []
    for path in spec.paths:
        try:
            APIOperation.from_openapi_spec(spec, path, "post").to_typescript()
        except Exception:
            traceback.print_exc()
            failed.append(path)
    print("1..1")
    print(f"{'not ok' if failed else 'ok'} 1 - LangChain reads every tool {' '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
