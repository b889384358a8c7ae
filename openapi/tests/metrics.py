"""The metrics of a server that has served calls, as Prometheus' own parser reads them.

`cargo xtask test --only clients` names the server in the environment, after its clients have used it. It reports in TAP.
"""

import os
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

with urllib.request.urlopen(os.environ["TOOLGATE_ADDRESS"] + "/metrics") as answer:
    FAMILIES = list(text_string_to_metric_families(answer.read().decode()))


def main() -> int:
    unknown = [family.name for family in FAMILIES if family.type == "unknown" or not family.documentation]
    names = [family.name for family in FAMILIES]
    failed = unknown or len(names) != len(set(names)) or len(names) < 20
    print("1..1")
    print(f"{'not ok' if failed else 'ok'} 1 - every metric has a type {' '.join(unknown)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
