"""Tests of the decoder, of the HTTP reader against canned answers, and of the adapter's lines.

    python3 -m unittest
"""

import base64
import io
import json
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import adapter
from adapter import Broken, Cancelled, Client, Failure, Leases, Patience, TimedOut

DATA = b'{"type":"data","seq":%d,"stream":"stdout","data_base64":"%s"}\n'
EXIT = b'{"type":"exit","exit_code":0,"signal":null}\n'


def data(seq, text):
    return DATA % (seq, base64.b64encode(text))


def chunked(*chunks, end=b"0\r\n\r\n"):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


class Server:
    """Answers each connection with the next canned answer, then closes it; remembers what was asked."""

    def __init__(self, *answers, hold=False):
        self._answers, self._hold = answers, hold
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.requests = []
        self.base = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join()
        self._listener.close()

    def _serve(self):
        for answer in self._answers:
            connection, _ = self._listener.accept()
            with connection:
                self.requests.append(self._request(connection))
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR) if not self._hold else None
                while connection.recv(4096):
                    pass

    @staticmethod
    def _request(connection):
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(4096)
        head, _, body = request.partition(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                while len(body) < int(line.split(b":")[1]):
                    body += connection.recv(4096)
        return head.split(b"\r\n")[0].decode(), body


class Files(unittest.TestCase):
    def ask(self, answer, call):
        with Server(answer) as server:
            try:
                return call(Client(server.base, "key", "sb"), Patience(5)), server.requests[0]
            except Failure as failure:
                return failure.kind, server.requests[0]

    def upload(self, answer):
        return self.ask(answer, lambda client, patience: client.upload("/a b+c", b"one", patience))

    def download(self, head, body):
        answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body
        return self.ask(answer, lambda client, patience: client.download("/a b+c", patience))[0]

    def test_a_file_goes_up_as_it_is(self):
        stored = b'{"status":"success","data":{"bytes":%d}}'
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
        for size, said in ((3, None), (2, "invalid-response")):
            body = stored % size
            result, request = self.upload(head % len(body) + body)
            self.assertEqual(result, said)
            self.assertEqual(request, ("PUT /v1/sandboxes/sb/files?path=/a%20b%2Bc HTTP/1.1", b"one"))

    def test_an_upload_without_an_envelope_is_unproven(self):
        self.assertEqual(self.upload(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")[0], "invalid-response")
        self.assertEqual(self.upload(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")[0], "http-error")

    def test_a_file_comes_down_whole_or_not_at_all(self):
        self.assertEqual(self.download(b"Content-Length: 3\r\n", b"\xff\x00\n"), b"\xff\x00\n")
        self.assertEqual(self.download(b"", b"to the end"), b"to the end")
        self.assertEqual(self.download(b"Content-Length: 4\r\n", b"one"), "transport")
        self.assertEqual(self.download(b"Content-Type: text/html\r\n", b"page"), "invalid-response")
        self.assertEqual(self.download(b"Content-Encoding: gzip\r\n", b"one"), "transport")


class Leasing(unittest.TestCase):
    """Leases against canned answers; the waits between two looks are left out."""

    def setUp(self):
        delay, adapter.POLL = adapter.POLL, 0
        self.addCleanup(setattr, adapter, "POLL", delay)

    def ask(self, call, *answers):
        with Server(*answers) as server:
            self.server = server
            return call(Leases(server.base, "key"))

    def asked(self):
        return [request.removesuffix(" HTTP/1.1") for request, _ in self.server.requests]

    def acquire(self, *answers, attempts=1):
        return self.ask(
            lambda leases: leases.acquire({"shape": "s"}, "test", attempts, 0, Patience(5)), *answers
        )

    def fails(self, call, *answers, **more):
        with self.assertRaises(Failure) as raised:
            call(*answers, **more)
        return raised.exception

    def test_a_sandbox_is_waited_for(self):
        answers = [said(state) for state in ("creating", "creating", "running")]
        self.assertEqual(self.acquire(*answers), "sb-1")
        self.assertEqual(self.asked(), ["POST /v1/sandboxes", *["GET /v1/sandboxes/sb-1"] * 2])

    def test_an_unclear_create_is_looked_for_and_not_repeated(self):
        failure = self.fails(self.acquire, refused(502), refused(404))
        self.assertEqual((failure.kind, failure.status), ("creation-unconfirmed", 502))
        self.assertTrue(failure.transient)
        self.assertEqual(self.asked(), ["POST /v1/sandboxes", "GET /v1/sandboxes?limit=500"])
        self.assertEqual(self.fails(self.acquire, refused(402)).kind, "http-error")

    def test_what_was_made_is_destroyed_or_named(self):
        failure = self.fails(self.acquire, said("failed"), said("destroying"))
        self.assertEqual((failure.kind, failure.sandbox), ("state-failed", None))
        failure = self.fails(self.acquire, said("failed"), refused(500))
        self.assertEqual((failure.kind, failure.sandbox), ("cleanup-unconfirmed", "sb-1"))
        self.assertEqual(self.asked(), ["POST /v1/sandboxes", "DELETE /v1/sandboxes/sb-1"])

    def test_a_policy_asks_for_a_new_name_each_time(self):
        self.assertEqual(self.acquire(refused(429), said("running"), attempts=2), "sb-1")
        names = [json.loads(body)["name"] for _, body in self.server.requests]
        self.assertNotEqual(*names)
        self.assertTrue(all(name.startswith("test-") and len(name) <= 22 for name in names))
        self.fails(self.acquire, refused(402), attempts=2)
        self.assertEqual(len(self.asked()), 1)

    def test_only_a_proof_is_a_release(self):
        release = lambda *answers: self.ask(lambda leases: leases.release("sb-1", Patience(5)), *answers)
        for proof in (said("destroying"), said("destroyed"), refused(404)):
            release(proof)
        for answer in (said("running"), said("destroyed", "sb-2"), refused(500), b""):
            self.fails(release, answer)

    def test_an_accepted_change_is_waited_for(self):
        pause = lambda *answers: self.ask(lambda leases: leases.change("pause", "sb-1", Patience(5)), *answers)
        pause(said("running"), said("pausing"), said("running"), said("paused"))
        self.assertEqual(self.asked()[1], "POST /v1/sandboxes/sb-1/pause")
        pause(said("running"), refused(409), said("paused"))
        self.assertEqual(self.fails(pause, said("running"), said("pausing"), said("error")).kind, "state-failed")
        self.assertEqual(self.fails(pause, said("paused", "sb-2")).kind, "invalid-response")


def said(state, sandbox="sb-1"):
    body = json.dumps({"status": "success", "data": {"id": sandbox, "status": state}}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def refused(status):
    return b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status


class Following(unittest.TestCase):
    """`follow` against canned answers; the delay between connects is left out."""

    def setUp(self):
        delay, adapter.RECONNECT_DELAY = adapter.RECONNECT_DELAY, 0
        self.addCleanup(setattr, adapter, "RECONNECT_DELAY", delay)
        self.output = {"stdout": b"", "stderr": b""}

    def follow(self, *answers, patience=None, hold=False):
        with Server(*answers, hold=hold) as server:
            self.server = server
            client = Client(server.base, "key", "sb-1")
            return client.follow("p-1", 0, patience or Patience(), self.sink)

    def sink(self, stream, text):
        self.output[stream] += text

    def cursors(self):
        return [request.split("after=")[1].split(" ")[0] for request, _ in self.server.requests]

    def fails(self, kind, *answers):
        with self.assertRaises(Failure) as raised:
            self.follow(*answers)
        self.assertEqual(raised.exception.kind, kind)

    def test_output_and_status_of_a_whole_stream(self):
        self.assertEqual(self.follow(chunked(data(1, b"one\n"), data(2, b"two\n"), EXIT)), (0, None))
        self.assertEqual(self.output["stdout"], b"one\ntwo\n")

    def test_a_cut_anywhere_is_made_good_by_the_next_connect(self):
        whole = chunked(data(1, b"one\n") + data(2, b"two\n"), data(3, b"three\n"))
        for cut in range(len(whole) + 1):
            self.output["stdout"] = b""
            rest = chunked(data(1, b"one\n"), data(2, b"two\n"), data(3, b"three\n"), EXIT)
            self.assertEqual(self.follow(whole[:cut], rest), (0, None), cut)
            self.assertEqual(self.output["stdout"], b"one\ntwo\nthree\n", cut)

    def test_the_cursor_is_that_of_the_last_accepted_frame(self):
        self.follow(chunked(data(1, b"x"), end=b""), chunked(), chunked(data(1, b"x"), data(2, b"y"), EXIT))
        self.assertEqual(self.cursors(), ["0", "1", "1"])
        self.assertEqual(self.output["stdout"], b"xy")

    def test_the_budget_is_three_reconnects(self):
        self.fails("stream-ended", *[chunked()] * 4)
        self.fails("connection-failed", *[b"HTTP/1.1 503 Busy\r\n\r\n"] * 4)
        self.fails("connection-failed", *[b""] * 4)

    def test_what_is_final_is_asked_once(self):
        self.fails("http-error", b"HTTP/1.1 404 Not Found\r\n\r\n")
        self.fails("http-error", b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n")
        self.fails("output-evicted", b"HTTP/1.1 410 Gone\r\nRetry-After: 1\r\n\r\n")
        self.fails("sequence-gap", chunked(data(2, b"x"), EXIT))
        self.fails("stream-error", chunked(b'{"type":"error","error":"oops"}\n'))
        self.fails("output-evicted", chunked(b'{"type":"error","error":"output_offset_expired"}\n'))
        self.fails("unknown-event", chunked(b'{"type":"Data"}\n'))
        self.fails("exit-status-missing", chunked(b'{"type":"exit","exit_code":true,"signal":"SIGterm"}\n'))
        self.fails("transport", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")

    def test_framing_is_taken_at_its_word(self):
        head = b"HTTP/1.1 200 OK\r\n%s\r\n\r\n"
        good = data(1, b"x") + EXIT
        for last in (b"0\r\n\r\n", b"0;ext=1\r\nTrailer: x\r\n\r\n"):
            self.assertEqual(self.follow(chunked(good, end=last)), (0, None))
        short = head % (b"Content-Length: %d" % (len(good) + 5)) + data(1, b"x")
        beyond = head % (b"Content-Length: %d" % len(data(1, b"x"))) + good
        for broken in (short, beyond, chunked(end=b"-5\r\nabcde\r\n"), chunked(end=b"0x5\r\nabcde\r\n")):
            self.assertEqual(self.follow(broken, chunked(good)), (0, None), broken)
            self.assertEqual(len(self.server.requests), 2, broken)

    def test_a_last_line_without_lf(self):
        self.assertEqual(self.follow(chunked(data(1, b"x") + EXIT[:-1])), (0, None))
        self.follow(chunked(data(1, b"x") + EXIT[:-2]), chunked(EXIT))
        self.assertEqual(self.cursors(), ["0", "1"])

    def test_the_deadline_ends_a_mute_stream_and_a_trickle(self):
        with self.assertRaises(TimedOut):
            self.follow(chunked(data(1, b"x"), end=b""), patience=Patience(0.1), hold=True)
        self.assertEqual(self.output["stdout"], b"x")

    def test_a_cancel_wakes_a_reader(self):
        patience = Patience()
        threading.Timer(0.05, patience.cancel).start()
        with self.assertRaises(Cancelled):
            self.follow(chunked(data(1, b"x"), end=b""), patience=patience, hold=True)


class Executing(unittest.TestCase):
    def execute(self, *answers):
        with Server(*answers) as server:
            self.server = server
            client = Client(server.base, "key", "sb-1")
            return client.execute(["sh", "-c", "true"], Patience(), lambda *_: None, stdin=b"in")

    @staticmethod
    def success(**fields):
        body = json.dumps({"status": "success", "data": fields}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    def test_the_calls_of_a_whole_run(self):
        done = self.success(ok=True)
        self.assertEqual(self.execute(self.success(process_id="p-1"), done, done, chunked(EXIT)), (0, None))
        lines = [line.split(" ")[:2] for line, _ in self.server.requests]
        base = "/v1/sandboxes/sb-1/processes"
        self.assertEqual(
            lines,
            [
                ["POST", base],
                ["POST", f"{base}/p-1/input"],
                ["POST", f"{base}/p-1/stdin/close"],
                ["GET", f"{base}/p-1/connect?after=0"],
            ],
        )
        self.assertEqual(json.loads(self.server.requests[0][1]), {"cmd": "sh", "args": ["-c", "true"]})

    def test_an_unclear_creation_is_never_repeated(self):
        for answer in (
            b"",
            b"HTTP/1.1 502 Bad\r\n\r\n",
            self.success(process_id="../x"),
            self.success(),
            b"HTTP/1.1 200 OK\r\n\r\n{",
        ):
            with self.assertRaises(Failure) as raised:
                self.execute(answer)
            self.assertEqual(raised.exception.kind, "creation-unconfirmed", answer)
            self.assertEqual(len(self.server.requests), 1)

    def test_a_failure_is_cleaned_up_and_only_a_proof_counts(self):
        start = [self.success(process_id="p-1"), self.success(), self.success()]
        gap = chunked(data(2, b"x"))
        for proof in (self.success(tree_exited=True), b"HTTP/1.1 404 Not Found\r\n\r\n"):
            with self.assertRaises(Failure) as raised:
                self.execute(*start, gap, proof)
            self.assertEqual(raised.exception.kind, "sequence-gap")
        for doubt in (self.success(tree_exited=False), self.success(), b"HTTP/1.1 204 No\r\n\r\n", b""):
            with self.assertRaises(Failure) as raised:
                self.execute(*start, gap, doubt)
            self.assertEqual(raised.exception.kind, "cleanup-unconfirmed", doubt)
            self.assertEqual(raised.exception.cause.kind, "sequence-gap")


class Decoding(unittest.TestCase):
    def lines(self, *blocks):
        return list(adapter.lines_of(iter(blocks)))

    def test_lines_end_at_lf_only_wherever_the_bytes_are_cut(self):
        text = '{"a":"\u2028\u2029\u0085"}\r\n\n \t\r\n{"b":1}\n'.encode()
        for cut in range(len(text) + 1):
            self.assertEqual(self.lines(text[:cut], text[cut:]), ['{"a":"\u2028\u2029\u0085"}\r'.encode(), b'{"b":1}'])

    def test_a_line_may_be_so_long_and_no_longer(self):
        line = b"x" * adapter.MAX_LINE
        self.assertEqual(self.lines(line + b"\n"), [line])
        for blocks in ([line + b"x\n"], [line, b"x"], [line[:-1], b"\r\r\n"]):
            with self.assertRaises(Failure):
                self.lines(*blocks)

    def test_what_is_no_object_is_refused(self):
        for line in (
            *(b"[]", b"1", b"null", b'"x"', b"{}{}", b"{", b"\xef\xbb\xbf{}", b"\x0b", b"\xc2\xa0", b'{"a":"\x01"}'),
            *(b'{"a":NaN}', b'{"a":1e999}', b'{"a":1,"a":1}', b'{"a":{"b":1,"b":2}}', b'{"a":"\xff"}', b"[" * 100_000),
        ):
            with self.assertRaises(Failure, msg=line[:20]):
                adapter.frame_of(line)
        self.assertEqual(adapter.frame_of(b' {"a":9007199254740993} \r'), {"a": 9007199254740993})

    def test_base64_is_standard_and_padded(self):
        for text in ("", "eA==", "eHg=", "eHh4", "+/+/", "eB=="):
            adapter.bytes_of({"data_base64": text})
        for text in ("eA", "eA=", "eA===", "e", "eA==eA==", "-_-_", "eA ==", "eA==\n", "e*==", "=", "éA==", None, 5):
            with self.assertRaises(Failure, msg=text):
                adapter.bytes_of({"data_base64": text})

    def test_an_exit_is_told_as_far_as_it_is_valid(self):
        for frame, status in (
            ({"exit_code": 0}, (0, None)),
            ({"exit_code": 255, "signal": None}, (255, None)),
            ({"exit_code": None, "signal": "SIGKILL"}, (None, "SIGKILL")),
            ({"exit_code": 1, "signal": "SIGUSR1"}, (1, "SIGUSR1")),
            ({"exit_code": 1, "signal": "kill"}, (1, None)),
        ):
            self.assertEqual(adapter.exit_of(frame), status)
        for code in (None, True, "0", 1.0, -1, 256, []):
            for signal in (None, "", "sigkill", "SIGKILL ", "SIGKILL\n", 9):
                with self.assertRaises(Failure):
                    adapter.exit_of({"exit_code": code, "signal": signal})


class Speaking(unittest.TestCase):
    def speak(self, *messages):
        out = io.BytesIO()
        text = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        speaker = adapter.Adapter(io.BytesIO(text), out)
        speaker.run()
        for thread in threading.enumerate():
            if thread.daemon:
                thread.join()
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def test_an_unknown_op_is_unsupported(self):
        job = {"type": "job", "id": "a", "op": "fly", "base_url": "http://127.0.0.1:1", "api_key": "", "sandbox_id": ""}
        hello, result = self.speak({"type": "hello", "protocol": 1}, job, {"type": "news"})
        self.assertEqual(hello["type"], "hello")
        self.assertEqual(result["id"], "a")
        self.assertEqual(result["error"]["kind"], "unsupported")

    def test_a_job_of_each_op_is_answered(self):
        answers = {
            "follow": chunked(data(1, b"x"), EXIT),
            "connect": chunked(data(1, b"x"), b'{"type":"heartbeat"}\n', EXIT),
        }
        said = {}
        for op, answer in answers.items():
            with Server(answer) as server:
                job = {"type": "job", "id": "a", "op": op, "base_url": server.base, "api_key": "k"}
                job |= {"sandbox_id": "sb-1", "process_id": "p-1"}
                out = io.BytesIO()
                adapter.Adapter(iter([]), out)._job(job, Patience())
            said[op] = [json.loads(line) for line in out.getvalue().splitlines()]
        piece = {"id": "a", "stream": "stdout", "data_base64": "eA=="}
        self.assertEqual(
            said["follow"],
            [
                {"type": "output", **piece},
                {"type": "result", "id": "a", "outcome": "exited", "exit_code": 0, "signal": None}
                | {"stdout_base64": "eA==", "stderr_base64": ""},
            ],
        )
        self.assertEqual(
            said["connect"],
            [
                {"type": "event", "kind": "data", "seq": 1, **piece},
                {"type": "event", "kind": "heartbeat", "id": "a"},
                {"type": "event", "kind": "exit", "id": "a", "exit_code": 0, "signal": None},
                {"type": "result", "id": "a", "outcome": "ended"},
            ],
        )

    def test_an_event_keeps_a_frames_fields(self):
        frame = {"type": "exit", "exit_code": 7.0, "signal": None, "more": 1}
        self.assertEqual(adapter.event(frame), {"kind": "exit", "exit_code": 7.0, "signal": None})
        self.assertEqual(adapter.event({"type": ["data"]}), {"kind": "other"})
        self.assertEqual(adapter.event({"type": "error"}), {"kind": "error", "error": ""})
        self.assertEqual(adapter.event({"type": "error", "error": 5}), {"kind": "error", "error": "5"})

    def test_an_event_has_text_where_the_message_has_text(self):
        frame = {"type": "data", "seq": 1, "stream": 1, "data_base64": "", "error": []}
        self.assertEqual(adapter.event(frame), {"kind": "data", "seq": 1, "data_base64": ""})

    def test_half_a_character_makes_no_broken_line(self):
        out = io.BytesIO()
        adapter.Adapter(io.BytesIO(), out)._say("event", error="\ud800\u2028")
        self.assertEqual(out.getvalue(), '{"type": "event", "error": "?\u2028"}\n'.encode())

    def test_it_says_its_version(self):
        program = Path(adapter.__file__)
        said = subprocess.run([sys.executable, program, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout.strip(), adapter.VERSION)


if __name__ == "__main__":
    unittest.main()
