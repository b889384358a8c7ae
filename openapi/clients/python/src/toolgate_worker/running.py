"""Runs a service or a worker until its process is asked to stop."""

import asyncio
import logging
import os
import signal
from typing import Protocol

import nats
from nats.aio.client import Client

log = logging.getLogger("toolgate_worker")


class Program(Protocol):
    """What is run."""

    async def serve(self, client: Client) -> None:
        """Begins to serve with a connection."""

    async def drain(self, client: Client) -> None:
        """Finishes what runs, and closes the connection."""

    def lost(self) -> None:
        """The connection has ended, and there will be another."""


def run(program: Program) -> None:
    """Serves until SIGINT or SIGTERM."""
    logging.basicConfig(level=logging.INFO)
    asyncio.run(_until_signalled(program))


async def _until_signalled(program: Program) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve_until(program, stop)


async def serve_until(program: Program, stop: asyncio.Event) -> None:
    """Connects and serves until `stop` is set.

    The client connects again by itself when the network fails, but ends when the server says that its credentials have expired. They
    are shown again then: a service key is good for the next connection, unless it was revoked, which is raised.
    """
    while not stop.is_set():
        closed = asyncio.Event()
        client = await connect(closed)
        try:
            await program.serve(client)
            waiting = [asyncio.create_task(event.wait()) for event in (stop, closed)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
        finally:
            if client.is_closed:
                program.lost()
            else:
                await program.drain(client)
        if closed.is_set() and not stop.is_set():
            log.info("the server has ended the connection; connecting again")


async def connect(closed: asyncio.Event | None = None) -> Client:
    """Connects to `NATS_URL`, and reconnects for ever when the connection is lost; `closed` is set when it has ended for good.

    `NATS_USER` and `NATS_PASSWORD`, or the credentials file of `NATS_CREDS`, prove who connects. A user has an inbox of its own.
    """
    user = os.environ.get("NATS_USER") or None

    async def ended() -> None:
        if closed:
            closed.set()

    return await nats.connect(
        os.environ.get("NATS_URL", "nats://127.0.0.1:4222").split(","),
        user=user,
        password=os.environ.get("NATS_PASSWORD"),
        inbox_prefix=f"_INBOX.{user}" if user else "_INBOX",
        user_credentials=None if user else os.environ.get("NATS_CREDS"),
        max_reconnect_attempts=-1,
        closed_cb=ended,
    )
