"""A worker of the UTP tool protocol that searches a small library; `search.yaml` is its tool."""

from toolgate_worker import UtpError, worker

LIBRARY = ["A cat's view of the world", "Cats and cafés", "Dogs at sea"]


@worker("search")
async def search(call):
    word = call.arguments["q"].lower()
    found = [title for title in LIBRARY if word in title.lower()]
    if not found:
        raise UtpError("not_found", f"the library has nothing about {word!r}")
    return {"found": found}


if __name__ == "__main__":
    search.run()
