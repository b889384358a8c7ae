"""Calls a tool over the bus: `invoke.py TOOL ARGUMENTS [GROUP...]`. `NATS_URL`, `TOOLGATE_URL`, `TOOLGATE_KEY` and
`TOOLGATE_PROJECT` say where and as whom."""

import asyncio
import json
import os
import sys

from toolgate_worker import Invoker
from toolgate_worker.running import connect


async def main(tool: str, arguments: str, *groups: str) -> None:
    client = await connect()
    invoker = Invoker(client, os.environ.get("TOOLGATE_PROJECT", "demo"))
    print(await invoker.invoke(tool, json.loads(arguments), groups=groups or None))
    await client.close()


asyncio.run(main(*sys.argv[1:]))
