"""A tool service that announces itself: its tool arrives disabled and is enabled in the project. Its name is the first argument, or `dice`."""

import random
import sys

from toolgate_worker import Announcement, DynamicToolService

NAME = sys.argv[1] if len(sys.argv) > 1 else "dice"
ROLL = {
    "name": f"roll-{NAME}",
    "description": "Rolls dice.",
    "group": ["fun"],
    "arguments": [{"name": "dice", "type": "integer", "description": "How many, 1 to 6."}],
}


class Dice(DynamicToolService):
    async def invoke(self, user, config, arguments):
        for _ in range(min(max(arguments.get("dice", 1), 1), 6)):
            yield {"rolled": random.randint(1, 6)}


if __name__ == "__main__":
    announcement = Announcement([ROLL], version="1.0.0")
    own = f"non-persistent://tg/{announcement.project}/{NAME}"
    Dice(NAME, announce=announcement, request_queue=own, response_queue=f"{own}-answers").run()
