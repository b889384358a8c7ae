"""Cards that are larger than a message of the bus: the REST API takes them, at `TOOLGATE_URL` with the service key in `TOOLGATE_KEY`."""

import asyncio
import os
import urllib.error
import urllib.request


async def store_card(project: str, card: bytes) -> str | None:
    """Stores the card of a result; returns why it is not stored."""
    url, key = os.environ.get("TOOLGATE_URL"), os.environ.get("TOOLGATE_KEY")
    if not url or not key:
        return "TOOLGATE_URL and TOOLGATE_KEY, by which larger ones are stored, are not set"
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(f"{url.rstrip('/')}/projects/{project}/cards", card, headers)  # noqa: S310

    def send() -> str | None:
        try:
            with urllib.request.urlopen(request, timeout=60):  # noqa: S310
                return None
        except urllib.error.HTTPError as error:
            with error:
                # Another worker, or an earlier delivery, has stored it.
                return None if error.code == 409 else error.read(2000).decode(errors="replace")
        except OSError as error:
            return str(error)

    return await asyncio.to_thread(send)
