"""Announcements and heartbeats, without a bus."""

import asyncio
import hashlib
import json
import unittest

from toolgate_worker import Announcement, DynamicToolService, InvokeError, Worker

TELL = {"name": "tell-joke", "description": "Tells a joke.", "style": "pun", "arguments": []}


class Bus:
    """What a client of the bus does, as far as announcing needs it."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict]] = []
        self.headers: list[dict | None] = []
        self.asked = None

    async def subscribe(self, subject, cb):
        self.asked = (subject, cb)

    async def publish(self, subject, body, headers=None):
        self.sent.append((subject, json.loads(body)))
        self.headers.append(headers)


class Announcing(unittest.IsolatedAsyncioTestCase):
    async def test_a_service_announces_itself_answers_and_beats(self):
        announcement = Announcement([TELL], version="1.4.0", project="demo")
        service = DynamicToolService(
            "joke",
            service_id="jokes",
            config_params=[{"name": "style"}],
            request_queue="tg.demo.joke",
            response_queue="tg.demo.joke-answers",
            announce=announcement,
        )
        bus = Bus()
        await service.announcer.start(bus)
        await asyncio.sleep(0)
        (subject, said), (beats, beat) = bus.sent
        self.assertEqual(subject, "tg.demo.tool-descriptors")
        self.assertEqual(
            said["tool-service"],
            {
                "id": "jokes",
                "request-queue": "tg.demo.joke",
                "response-queue": "tg.demo.joke-answers",
                "config-params": [{"name": "style"}],
            },
        )
        self.assertEqual((said["tools"], said["version"]), ([TELL], "1.4.0"))
        self.assertEqual(beats, "tg.demo.tool-descriptors.heartbeat")
        self.assertEqual((beat["service"], beat["instance"], beat["stopping"]), ("jokes", said["instance"], False))
        question, answer = bus.asked
        self.assertEqual(question, "tg.demo.tool-descriptors.discover")
        await answer(None)
        self.assertEqual(bus.sent[-1], (subject, said))
        await service.announcer.stop()
        self.assertTrue(bus.sent[-1][1]["stopping"])

    async def test_a_worker_announces_itself_in_its_project(self):
        worker = Worker("search", project="other", announce=Announcement(project="demo"))
        bus = Bus()
        await worker.announcer.start(bus)
        subject, said = bus.sent[0]
        self.assertEqual((subject, said["worker"]), ("tg.other.tool-descriptors", {"target": "search"}))
        await worker.announcer.stop()

    async def test_an_announcement_proves_who_announces(self):
        asked = []

        async def tokens(subject, payload_sha256):
            asked.append((subject, payload_sha256))
            if len(asked) > 1:
                raise InvokeError("execution_failed", "no", retryable=False, reason=None)
            return "a token"

        service = DynamicToolService("joke", announce=Announcement([TELL], project="demo", tokens=tokens))
        bus = Bus()
        await service.announcer.start(bus)
        subject, said = bus.sent[0]
        digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        self.assertEqual((asked, bus.headers[0]), ([(subject, digest)], {"Toolgate-Token": "a token"}))
        # Without a token it is announced nevertheless.
        with self.assertLogs("toolgate_worker.presence", "WARNING"):
            await bus.asked[1](None)
        self.assertEqual((bus.sent[-1], bus.headers[-1]), ((subject, said), None))
        await service.announcer.stop()

    def test_nothing_is_announced_without_a_word(self):
        self.assertIsNone(DynamicToolService("joke").announcer)
        self.assertIsNone(Worker("search", project="demo").announcer)
