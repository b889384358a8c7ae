"""The joke service of the tool services specification."""

from toolgate_worker import DynamicToolService

JOKES = {
    "pun": "Why do programmers confuse {topic} with Christmas? Because Oct 31 equals Dec 25.",
    "dad-joke": "I would tell you a joke about {topic}, but you would not get it.",
}


def pick_joke(topic: str, style: str) -> str:
    return JOKES.get(style, JOKES["pun"]).format(topic=topic or "nothing")


class Processor(DynamicToolService):
    async def invoke(self, user, config, arguments):
        style = config.get("style", "pun")
        topic = arguments.get("topic", "")
        joke = pick_joke(topic, style)
        return f"Hey {user}! Here's a {style} for you:\n\n{joke}"


if __name__ == "__main__":
    Processor("joke").run()
