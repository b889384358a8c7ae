"""Cards that are larger than a message of the bus: the REST API takes and gives them, at `TOOLGATE_URL` with the service key in `TOOLGATE_KEY`."""

import asyncio
import os
import urllib.error
import urllib.parse
import urllib.request

UNSET = "TOOLGATE_URL and TOOLGATE_KEY, by which larger ones are stored and read, are not set"


def _request(project: str, path: str, card: bytes | None = None) -> urllib.request.Request | None:
    url, key = os.environ.get("TOOLGATE_URL"), os.environ.get("TOOLGATE_KEY")
    if not url or not key:
        return None
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    return urllib.request.Request(f"{url.rstrip('/')}/projects/{project}/cards{path}", card, headers)  # noqa: S310


async def store_card(project: str, card: bytes) -> str | None:
    """Stores the card of a result; returns why it is not stored."""
    request = _request(project, "", card)
    if request is None:
        return UNSET

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


async def read_card(project: str, card_id: str) -> bytes:
    """A card, whole. Raises `OSError` with the reason why it cannot be read."""
    request = _request(project, f"/{urllib.parse.quote(card_id, safe='')}")
    if request is None:
        raise OSError(UNSET)

    def read() -> bytes:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.read()

    return await asyncio.to_thread(read)
