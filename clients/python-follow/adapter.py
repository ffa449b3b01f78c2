#!/usr/bin/env python3
"""A small CreateOS client that keeps the whole contract, and the adapter that lets the harness ask it.

Python 3.10 or later, standard library only. Read it from top to bottom:

    1  Errors     what a caller is told
    2  Patience   how long a call may go on: its deadline, and whether it was cancelled
    3  HTTP       one request a connection, framing taken at its word, every wait bounded
    4  Frames     bytes to lines, lines to frames, nothing guessed
    5  Client     execute, terminal, follow, connect, upload, download
    6  Leases     acquire, release, pause, resume
    7  Adapter    all of them as jobs, one thread each, JSON lines on stdin and stdout

The client stands alone: sections 1 to 6 know nothing of the harness. Copy it, or copy section 7 and put your
own client in the place of this one.
"""

from __future__ import annotations

import base64
import errno
import json
import math
import os
import re
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlsplit

VERSION = "1.0.0"

MAX_RECONNECTS = 3  # in all, whatever progress is made between
RECONNECT_DELAY = float(os.environ.get("RECONNECT_DELAY", "0.25"))  # seconds between two connects
MAX_LINE = 1 << 20  # bytes between two LF
MAX_SEQ = (1 << 53) - 1  # the largest whole number that every JSON parser keeps exact
BLOCK = 64 << 10  # bytes read at once
MAX_HEAD = 64 << 10  # bytes of a status line with its headers
MAX_ANSWER = 1 << 20  # bytes of a JSON answer
MAX_FILE = 500 << 20  # bytes of a file, as the vendor's own tools transfer
INPUT_SIZE = 256 << 10  # bytes of input in one request, as the server allows
CLEANUP_TIMEOUT = 1.0  # seconds for deleting a process, beyond the call's own deadline
POLL = 0.1  # seconds between two looks at a sandbox's state
GRACE_MS = 200  # milliseconds a process tree has between SIGTERM and SIGKILL


# --- 1  Errors -----------------------------------------------------------------------------------


class Failure(Exception):
    """The call failed. The message is ours alone: no text of the server is ever quoted in it."""

    def __init__(
        self,
        kind: str,
        message: str,
        status: int | None = None,
        cause: Failure | None = None,
        errno: str | None = None,
    ):
        super().__init__(message)
        self.kind, self.message, self.status, self.cause, self.errno = kind, message, status, cause, errno
        self.sandbox: str | None = None  # that may be left
        self.transient: bool | None = None  # another try may mend it; told of acquisitions only


class TimedOut(Exception):
    """The caller's deadline passed."""


class Cancelled(Exception):
    """The caller does not want it any more."""


class Broken(Exception):
    """The transport failed, or the answer stopped before its framing said so. Often worth another try."""

    def __init__(self, error: OSError | None = None):
        super().__init__()
        self.errno = errno.errorcode.get(error.errno or 0) if error else None


# --- 2  Patience ---------------------------------------------------------------------------------


class Patience:
    """How long a call may go on. Every wait asks it first, so none outlives the deadline or a cancel."""

    def __init__(self, seconds: float | None = None):
        self._end = None if seconds is None else time.monotonic() + seconds
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def left(self) -> float | None:
        """Seconds left, None for no limit. Raises when there are none."""
        if self._cancelled.is_set():
            raise Cancelled
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimedOut
        return left

    def sleep(self, seconds: float) -> None:
        left = self.left()
        self._cancelled.wait(seconds if left is None else min(seconds, left))
        self.left()

    def cancel(self) -> None:
        """May be called from any thread; wakes whoever waits."""
        with self._lock:
            self._cancelled.set()
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # not connected yet, or no longer

    def watch(self, waiting: socket.socket | None) -> None:
        """The socket that a cancel has to wake."""
        with self._lock:
            self._socket = waiting
        if waiting is not None:
            self.left()


# --- 3  HTTP -------------------------------------------------------------------------------------


class Response:
    """One request and its answer, on a connection of its own.

    Redirects are not followed and nothing is decoded: what the status and the headers say is for the caller.
    """

    def __init__(self, base: str, key: str, method: str, path: str, patience: Patience, body: Any = None):
        self._patience = patience
        self._buffer, self._at = b"", 0
        url = urlsplit(base)
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        head = [
            f"{method} {url.path.rstrip('/')}{path} HTTP/1.1",
            f"Host: {url.netloc}",
            f"X-Api-Key: {key}",
            f"User-Agent: createos-python-follow/{VERSION}",
            "Accept-Encoding: identity",
            "Connection: close",
        ]
        if body is not None:
            head += [f"Content-Type: application/{'octet-stream' if body is content else 'json'}"]
        if method in ("POST", "PUT"):
            head += [f"Content-Length: {len(content)}"]
        request = "\r\n".join(head + ["", ""]).encode() + content
        try:
            self._socket = socket.create_connection((url.hostname, url.port or 80), timeout=patience.left())
        except OSError as error:
            raise self._reason(error) from None
        try:
            patience.watch(self._socket)
            self._wait(self._socket.sendall, request)
            self._read_head()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._patience.watch(None)
        self._socket.close()

    def body(self) -> Iterator[bytes]:
        """The body's bytes as they come. Ends where the framing says that it ends; raises Broken before."""
        coding = self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length")
        if self.status in (204, 304):
            return
        if coding:
            if coding != "chunked":
                raise Broken
            yield from self._chunks()
        elif length is not None:
            if not re.fullmatch("[0-9]{1,18}", length):
                raise Broken
            yield from self._exactly(int(length))
        else:
            while block := self._take(BLOCK):
                yield block

    def answer(self) -> Any:
        """A whole JSON body. Raises Broken, or ValueError for what is none."""
        content = b""
        for block in self.body():
            content += block
            if len(content) > MAX_ANSWER:
                raise ValueError("too long")
        return parse(content)

    def _read_head(self) -> None:
        self.status = 0
        while self.status < 200:  # 1xx: the answer is still to come
            status, *lines = self._lines_until_blank()
            match = re.fullmatch(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: .*)?", status)
            if not match:
                raise Broken
            self.status, self.headers = int(match[1]), {}
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon:
                    raise Broken
                before = self.headers.get(name.lower())
                self.headers[name.lower()] = value.strip() if before is None else f"{before}, {value.strip()}"

    def _chunks(self) -> Iterator[bytes]:
        while True:
            match = re.fullmatch(r"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", self._line())
            if not match:
                raise Broken
            size = int(match[1], 16)
            if size == 0:
                while self._line():
                    pass  # trailers
                return
            yield from self._exactly(size)
            if self._line():
                raise Broken

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            block = self._take(size)
            if not block:
                raise Broken
            size -= len(block)
            yield block

    def _lines_until_blank(self) -> list[str]:
        lines: list[str] = []
        while (line := self._line()) or not lines:
            lines.append(line)
            if sum(map(len, lines)) > MAX_HEAD:
                raise Broken
        return lines

    def _line(self) -> str:
        while (end := self._buffer.find(b"\n", self._at)) < 0:
            if len(self._buffer) - self._at > MAX_HEAD or not self._fill():
                raise Broken
        line, self._at = self._buffer[self._at : end], end + 1
        return line.removesuffix(b"\r").decode("latin-1")

    def _take(self, limit: int) -> bytes:
        """At most so many bytes, as soon as there are any; none at the end."""
        if self._at == len(self._buffer):
            self._fill()
        block = self._buffer[self._at : self._at + limit]
        self._at += len(block)
        return block

    def _fill(self) -> bool:
        """Waits for more. False: the server has closed."""
        more = self._wait(self._socket.recv, BLOCK)
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        return bool(more)

    def _wait(self, act: Callable[..., Any], argument: Any) -> Any:
        """Does one thing with the socket, within what is left of the caller's patience."""
        self._socket.settimeout(self._patience.left())
        try:
            done = act(argument)
        except OSError as error:
            raise self._reason(error) from None
        self._patience.left()  # a cancel looks like the end of the answer
        return done

    def _reason(self, error: OSError) -> Exception:
        """Why a wait failed: a cancel or our own deadline, or else the transport."""
        limited = self._patience.left() is not None
        return TimedOut() if limited and isinstance(error, TimeoutError) else Broken(error)


# --- 4  Frames -----------------------------------------------------------------------------------

BLANK = b" \t\r"  # what JSON calls white space, less the LF
BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
SIGNAL = re.compile("SIG[A-Z0-9]+")
PAGES = ("text/html", "application/xhtml+xml", "application/json")  # what refusals are made of, and no file
IDENTIFIER = re.compile("[A-Za-z0-9_-]{1,200}")  # what may stand in a URL


def parse(text: bytes | bytearray) -> Any:
    """JSON, strictly: whole numbers exact, no NaN and no Infinity, no key twice, UTF-8 without a guess."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise ValueError("a key twice")
        return fields

    def finite(number: str) -> float:
        if math.isinf(value := float(number)):
            raise ValueError("a number beyond all")
        return value

    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text.decode(), object_pairs_hook=once, parse_float=finite, parse_constant=refuse)


def whole(value: Any) -> bool:
    """A whole number. For Python True is one too; 5.0 is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def frame_of(line: bytes | bytearray) -> dict[str, Any]:
    try:
        frame = parse(line)
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict):
        raise Failure("frame-invalid", "a line of the process stream is no JSON object")
    return frame


def lines_of(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines, ended by LF and by nothing else. Blank ones are left out.

    A last line without LF counts if the body ended as its framing promised and the line is whole.
    """
    line = bytearray()
    for block in blocks:
        for number, part in enumerate(block.split(b"\n")):
            if number:  # an LF stands before this part
                if line.strip(BLANK):
                    yield bytes(line)
                line.clear()
            line += part
            if len(line) > MAX_LINE:
                raise Failure("frame-too-large", "a line of the process stream is too long")
    if line.strip(BLANK):
        try:
            frame_of(line)
        except Failure:
            raise Broken from None  # the body ended inside a line
        yield bytes(line)


def bytes_of(frame: dict[str, Any]) -> bytes:
    text = frame.get("data_base64")
    if not isinstance(text, str) or not BASE64.fullmatch(text):
        raise Failure("output-invalid", "process output is not valid base64")
    return base64.b64decode(text)


def exit_of(frame: dict[str, Any]) -> tuple[int | None, str | None]:
    code, signal = frame.get("exit_code"), frame.get("signal")
    if not whole(code) or not 0 <= code <= 255:
        code = None
    if not isinstance(signal, str) or not SIGNAL.fullmatch(signal):
        signal = None
    if code is None and signal is None:
        raise Failure("exit-status-missing", "the process ended without a valid exit status")
    return code, signal


# --- 5  Client -----------------------------------------------------------------------------------

Sink = Callable[[str, bytes], None]  # takes output as it arrives: the stream's name and the bytes
Size = dict[str, int]  # rows and cols of a terminal
PIPES, TERMINAL = ("stdout", "stderr"), ("pty",)  # the streams of a process


def typed(data: bytes) -> list[tuple[str, Any]]:
    """The calls that write these bytes."""
    parts = [data[at : at + INPUT_SIZE] for at in range(0, len(data), INPUT_SIZE)]
    return [("/input", {"data_base64": base64.b64encode(part).decode()}) for part in parts]


class Client:
    """A client for one sandbox. Its calls may run in as many threads as you like."""

    def __init__(self, base: str, key: str, sandbox: str):
        self._base, self._key = base, key
        at = f"/v1/sandboxes/{quote(sandbox, safe='')}"
        self._processes, self._files = f"{at}/processes", f"{at}/files"

    def execute(
        self,
        command: list[str],
        patience: Patience,
        sink: Sink,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes = b"",
    ) -> tuple[int | None, str | None]:
        """Runs a command to its end: its exit code or signal. If anything fails, the process tree is gone, or
        the failure says that this could not be confirmed."""
        process = self._create(command, cwd, env, patience)
        try:
            self._feed(process, [*typed(stdin), ("/stdin/close", None)], patience)
            return self.follow(process, 0, patience, sink)
        except BaseException as error:
            self._clean_up(process, error)
            raise

    def terminal(
        self,
        command: list[str],
        size: Size,
        inputs: list[bytes | Size],
        patience: Patience,
        sink: Sink,
    ) -> tuple[int | None, str | None]:
        """Runs a command, or the shell if there is none, on a terminal: types into it and resizes it in the order
        of `inputs`, then follows it to its end. Fails as `execute` does."""
        process = self._create(command, None, None, patience, size)
        calls: list[tuple[str, Any]] = []
        for item in inputs:
            calls += typed(item) if isinstance(item, bytes) else [("/resize", item)]
        try:
            self._feed(process, calls, patience)
            return self.follow(process, 0, patience, sink, TERMINAL)
        except BaseException as error:
            self._clean_up(process, error)
            raise

    def follow(
        self, process: str, after: int, patience: Patience, sink: Sink, streams: tuple[str, ...] = PIPES
    ) -> tuple[int | None, str | None]:
        """Hands over all output after a cursor, each byte once and in order, and tells how the process ended."""
        cursor, attempts, last = after, 0, Failure("connection-failed", "the process output could not be reached")
        while attempts <= MAX_RECONNECTS:
            if attempts:
                patience.sleep(RECONNECT_DELAY)
            attempts += 1
            try:
                response = self._connect(process, cursor, patience)
            except Broken as broken:
                last = Failure(
                    "connection-failed", "the process output could not be reached", errno=broken.errno
                )
                continue
            with response:
                if response.status == 429 or response.status >= 500:
                    last = Failure("connection-failed", f"the process output was refused (HTTP {response.status})")
                    continue
                self._check(response)
                try:
                    for line in lines_of(response.body()):
                        frame = frame_of(line)
                        match frame.get("type"):
                            case "data":
                                cursor = self._accept(frame, cursor, sink, streams)
                            case "exit":
                                return exit_of(frame)
                            case "heartbeat":
                                pass
                            case "error" if frame.get("error") == "output_offset_expired":
                                raise Failure("output-evicted", "output was evicted before it could be read")
                            case "error":
                                raise Failure("stream-error", "the process stream reported an error")
                            case _:
                                raise Failure("unknown-event", "the process stream has an unknown event")
                except Broken:
                    pass
                # However it ended, without an exit it was not the end.
                last = Failure("stream-ended", "the process stream ended without an exit status")
        raise last

    def connect(self, process: str, after: int, patience: Patience) -> Iterator[dict[str, Any]]:
        """One stream's events as they are, without any care for their order."""
        try:
            with self._connect(process, after, patience) as response:
                self._check(response)
                for line in lines_of(response.body()):
                    frame = frame_of(line)
                    if frame.get("type") == "data":
                        bytes_of(frame)
                    yield frame
        except Broken:
            raise Failure("transport", "the connection broke inside the process stream") from None

    def upload(self, path: str, content: bytes, patience: Patience) -> None:
        """Stores a file. Only a success that tells of as many bytes as were sent counts."""
        try:
            with self._file("PUT", path, patience, content) as response:
                if not 200 <= response.status < 300:
                    raise http_error("the file was refused", response.status)
                stored = success(response).get("bytes", len(content))
        except Broken:
            raise Failure("transport", "the connection broke while the file was sent") from None
        except (ValueError, RecursionError):
            raise Failure("invalid-response", "the upload was not confirmed") from None
        if stored != len(content):
            raise Failure("invalid-response", "another number of bytes was stored than was sent")

    def download(self, path: str, patience: Patience) -> bytes:
        """A file's bytes: all of them, or a failure."""
        content = bytearray()
        try:
            with self._file("GET", path, patience) as response:
                if response.status != 200:
                    raise http_error("the file could not be had", response.status)
                if response.headers.get("content-encoding", "identity").lower() != "identity":
                    raise Failure("transport", "the file has a content coding that was not asked for")
                media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if media in PAGES:
                    raise Failure("invalid-response", "something else came in the place of the file")
                for block in response.body():
                    content += block
                    if len(content) > MAX_FILE:
                        raise Failure("invalid-response", "the file is too large")
        except Broken:
            raise Failure("transport", "the connection broke inside the file") from None
        return bytes(content)

    def _accept(self, frame: dict[str, Any], cursor: int, sink: Sink, streams: tuple[str, ...]) -> int:
        """One data frame: the cursor after it."""
        seq, stream = frame.get("seq"), frame.get("stream")
        if not whole(seq) or not 1 <= seq <= MAX_SEQ:
            raise Failure("sequence-invalid", "a process sequence number is invalid")
        if seq <= cursor:
            return cursor  # seen before
        if seq > cursor + 1:
            raise Failure("sequence-gap", "the process output has a sequence gap")
        if stream not in streams:
            raise Failure("output-invalid", "process output belongs to an unknown stream")
        sink(stream, bytes_of(frame))
        return seq

    def _check(self, response: Response) -> None:
        """A stream is a plain 200; the body of anything else is left unread."""
        if response.status == 410:
            raise Failure("output-evicted", "output was evicted before it could be read", 410)
        if response.status != 200:
            raise http_error("the process output was refused", response.status)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Failure("transport", "the process stream has a content coding that was not asked for")

    def _create(
        self,
        command: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        patience: Patience,
        size: Size | None = None,
    ) -> str:
        """One POST, whatever happens: who repeats a create may run a command twice."""
        body: dict[str, Any] = {"cmd": command[0], "args": command[1:]} if command else {}
        if size is not None:
            body["pty"] = size
        if cwd is not None:
            body["cwd"] = cwd
        if env:
            body["env"] = env
        unconfirmed = Failure("creation-unconfirmed", "the creation of the process could not be confirmed")
        patience.left()
        try:
            with self._request("POST", "", patience, body) as response:
                if 300 <= response.status < 500:
                    raise http_error("the creation of the process was refused", response.status)
                process = success(response).get("process_id")
        except (Broken, TimedOut, Cancelled, ValueError, RecursionError):
            raise unconfirmed from None
        if not isinstance(process, str) or not IDENTIFIER.fullmatch(process):
            raise unconfirmed
        return process

    def _feed(self, process: str, calls: list[tuple[str, Any]], patience: Patience) -> None:
        """Writes input, each piece once: who repeats one may type a command twice. 409: the process has closed its
        input or ended, which is its right."""
        for path, body in calls:
            try:
                with self._request("POST", f"/{process}{path}", patience, body) as response:
                    if response.status != 409 and not 200 <= response.status < 300:
                        raise http_error("the process did not take its input", response.status)
            except Broken:
                raise Failure("transport", "the connection broke while input was written") from None

    def _clean_up(self, process: str, error: BaseException) -> None:
        """Deletes the process tree, even after the deadline. Only a proof counts."""
        try:
            patience = Patience(CLEANUP_TIMEOUT)
            with self._request("DELETE", f"/{process}?grace_ms={GRACE_MS}", patience) as response:
                if response.status == 404 or success(response).get("tree_exited") is True:
                    return
        except (Broken, TimedOut, ValueError, RecursionError) as reason:
            code = reason.errno if isinstance(reason, Broken) else None
        else:
            code = None
        if isinstance(error, TimedOut):
            error = Failure("other", "the deadline passed")
        elif isinstance(error, Cancelled):
            error = Failure("other", "the call was cancelled")
        cause = error if isinstance(error, Failure) else None
        raise Failure(
            "cleanup-unconfirmed", "the termination of the process is unconfirmed", cause=cause, errno=code
        ) from None

    def _connect(self, process: str, after: int, patience: Patience) -> Response:
        return self._request("GET", f"/{quote(process, safe='')}/connect?after={after}", patience)

    def _request(self, method: str, path: str, patience: Patience, body: Any = None) -> Response:
        return Response(self._base, self._key, method, self._processes + path, patience, body)

    def _file(self, method: str, path: str, patience: Patience, content: bytes | None = None) -> Response:
        path = f"{self._files}?path={quote(path)}"
        return Response(self._base, self._key, method, path, patience, content)


def success(response: Response) -> dict[str, Any]:
    """The data of a JSend success. Raises ValueError for anything else."""
    if not 200 <= response.status < 300:
        raise ValueError
    envelope = response.answer()
    data = envelope.get("data") if isinstance(envelope, dict) and envelope.get("status") == "success" else None
    if not isinstance(data, dict):
        raise ValueError
    return data


def http_error(what: str, status: int) -> Failure:
    return Failure("http-error", f"{what} (HTTP {status})", status)


# --- 6  Leases -----------------------------------------------------------------------------------

DEAD = ("failed", "destroying", "destroyed", "error")  # nothing leads on from these, but a resume from the last
TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
ERRNOS = ("ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH")


class Leases:
    """Sandboxes: got, given back, paused and resumed."""

    def __init__(self, base: str, key: str):
        self._base, self._key = base, key

    def acquire(
        self, wanted: dict[str, Any], prefix: str, attempts: int, delay: float, patience: Patience
    ) -> str:
        """A sandbox that runs; its id. A policy repeats the whole of it after transient failures."""
        while True:
            try:
                return self._acquire(wanted, prefix, patience)
            except Failure as failure:
                attempts -= 1
                failure.transient = is_transient(failure)
                if attempts <= 0 or failure.sandbox is not None or not failure.transient:
                    raise
                try:
                    patience.sleep(delay)
                except (TimedOut, Cancelled):
                    if failure.kind == "creation-unconfirmed":
                        raise failure from None  # stands above what ended the wait
                    raise

    def release(self, sandbox: str, patience: Patience) -> None:
        """Destroys a sandbox. Only a success that says so, or 404, is a proof."""
        try:
            answer = self._ask("DELETE", f"/{sandbox}", "the sandbox could not be destroyed", patience)
        except Failure as failure:
            if failure.status == 404:
                return
            raise
        if self._state(answer, sandbox) not in ("destroying", "destroyed"):
            raise Failure("invalid-response", "the sandbox may still be there: its end was not confirmed")

    def change(self, verb: str, sandbox: str, patience: Patience) -> None:
        """Pauses or resumes a sandbox: asked for once, then waited for."""
        wanted, via = ("paused", "pausing") if verb == "pause" else ("running", "resuming")
        state = self._look(sandbox, patience)
        if state == wanted:
            return
        if state in DEAD and not (verb == "resume" and state == "error"):
            raise dead()
        try:
            answer = self._ask("POST", f"/{sandbox}/{verb}", f"the {verb} was refused", patience)
            state = self._state(answer, sandbox)
        except Failure as failure:
            if not (passes(failure) or failure.status == 409):
                raise
            state = self._look(sandbox, patience)  # tells what the answer did not
            if state not in (wanted, via, *DEAD):
                raise
        self._settle(sandbox, wanted, state, patience)

    def _acquire(self, wanted: dict[str, Any], prefix: str, patience: Patience) -> str:
        name = f"{prefix[:12]}-{uuid.uuid4().hex[:8]}"
        try:
            sandbox, state = self._create({**wanted, "name": name}, patience)
        except (Failure, TimedOut, Cancelled) as error:
            refused = isinstance(error, Failure) and error.kind == "http-error" and is_refusal(error.status)
            if not refused:
                self._reconcile(name, error)
            raise
        try:
            self._settle(sandbox, "running", state, patience)
        except (Failure, TimedOut, Cancelled) as error:
            self._give_back(sandbox, error)
            raise
        return sandbox

    def _create(self, body: dict[str, Any], patience: Patience) -> tuple[str, str]:
        """One POST, whatever happens. The id and the state of what it made."""
        data = self._ask("POST", "", "the sandbox was refused", patience, body)
        sandbox = data.get("id")
        if not isinstance(sandbox, str) or not IDENTIFIER.fullmatch(sandbox):
            raise Failure("invalid-response", "the new sandbox has no usable id")
        return sandbox, str(data.get("status", "running"))

    def _reconcile(self, name: str, error: Failure | TimedOut | Cancelled) -> None:
        """Nobody knows whether the create made one: it is looked for by its name, and destroyed if it is there."""
        try:
            rows = self._ask("GET", "?limit=500", "the list was refused", Patience(CLEANUP_TIMEOUT)).get("data")
            ids = [row["id"] for row in rows if row.get("name") == name]
        except (Failure, TimedOut, AttributeError, KeyError, TypeError):
            ids = []
        if ids and isinstance(ids[0], str) and IDENTIFIER.fullmatch(ids[0]):
            self._give_back(ids[0], error)
            return
        cause = error if isinstance(error, Failure) else None
        raise Failure(
            "creation-unconfirmed",
            "the creation of the sandbox could not be confirmed",
            cause and cause.status,
            cause,
            cause and cause.errno,
        )

    def _give_back(self, sandbox: str, error: Failure | TimedOut | Cancelled) -> None:
        """Destroys what an acquisition made, even after its deadline; or says that it may be left."""
        try:
            self.release(sandbox, Patience(CLEANUP_TIMEOUT))
        except (Failure, TimedOut):
            cause = error if isinstance(error, Failure) else None
            failure = Failure("cleanup-unconfirmed", "the sandbox may be left", cause=cause)
            failure.sandbox = sandbox
            raise failure from None

    def _settle(self, sandbox: str, wanted: str, state: str, patience: Patience) -> None:
        """Polls until the state is there; one that lags behind is waited out."""
        while state != wanted:
            if state in DEAD:
                raise dead()
            patience.sleep(POLL)
            state = self._look(sandbox, patience)

    def _look(self, sandbox: str, patience: Patience) -> str:
        """The state. Reading changes nothing and is repeated."""
        tries = 1 + MAX_RECONNECTS
        while True:
            try:
                answer = self._ask("GET", f"/{sandbox}", "the state could not be read", patience)
                return self._state(answer, sandbox)
            except Failure as failure:
                tries -= 1
                if tries == 0 or not passes(failure):
                    raise
            patience.sleep(POLL)

    def _state(self, answer: dict[str, Any], sandbox: str) -> str:
        if answer.get("id", sandbox) != sandbox:
            raise Failure("invalid-response", "the answer is about another sandbox")
        return str(answer.get("status"))

    def _ask(self, method: str, path: str, what: str, patience: Patience, body: Any = None) -> dict[str, Any]:
        """The data of an answer."""
        patience.left()
        try:
            with Response(self._base, self._key, method, f"/v1/sandboxes{path}", patience, body) as response:
                status = response.status
                if not 200 <= status < 300:
                    # A number that is no status is the server's, and not handed on.
                    real = 100 <= status <= 599
                    raise http_error(what, status) if real else Failure("http-error", what)
                return success(response)
        except Broken as broken:
            code = broken.errno if broken.errno in ERRNOS else None
            raise Failure("transport", f"{what}: the connection broke", errno=code) from None
        except (ValueError, RecursionError):
            raise Failure("invalid-response", f"{what}: the answer is no success") from None


def passes(failure: Failure) -> bool:
    """Whether a call that changes nothing may bring something else the next time."""
    return failure.kind == "transport" or failure.status == 429 or (failure.status or 0) >= 500


def is_refusal(status: int | None) -> bool:
    """Whether a create that was answered so has surely made nothing."""
    return status is not None and 400 <= status < 500 and status != 408


def is_transient(failure: Failure) -> bool:
    """Whether another try may mend it: by the status or the broken connection, never by any text."""
    if failure.kind in ("creation-unconfirmed", "cleanup-unconfirmed") and failure.cause is not None:
        return is_transient(failure.cause)
    return failure.kind == "transport" or failure.status in TRANSIENT


def dead() -> Failure:
    return Failure("state-failed", "the sandbox is in a state from which nothing leads on")


# --- 7  Adapter ----------------------------------------------------------------------------------


class Adapter:
    """Takes jobs from one stream of lines and answers on another."""

    def __init__(self, lines: Any, out: Any):
        self._lines, self._out = lines, out
        self._lock = threading.Lock()
        self._running: dict[str, Patience] = {}

    def run(self) -> None:
        self._say(
            "hello",
            protocol=1,
            client={"name": "python-follow", "version": VERSION, "language": "Python"},
            capabilities=[
                *("execute", "terminal", "follow", "connect", "upload", "download"),
                *("acquire", "release", "pause", "resume"),
                *("live-output", "cancel", "timeout", "resume-stream", "classifies-transient", "lease-policy"),
            ],
            profile={
                "cleanup-timeout-ms": int(CLEANUP_TIMEOUT * 1000),
                "reconnect-delay-ms": int(RECONNECT_DELAY * 1000),
            },
        )
        for line in self._lines:  # of a binary stream: split at LF only
            message = json.loads(line)
            match message.get("type"):
                case "job":
                    timeout = message.get("timeout_ms")
                    patience = Patience(None if timeout is None else timeout / 1000)
                    self._running[message["id"]] = patience
                    threading.Thread(target=self._job, args=(message, patience), daemon=True).start()
                case "cancel":
                    if patience := self._running.get(message["id"]):
                        patience.cancel()
        for patience in list(self._running.values()):
            patience.cancel()

    def _job(self, job: dict[str, Any], patience: Patience) -> None:
        output = {stream: bytearray() for stream in (TERMINAL if job.get("op") == "terminal" else PIPES)}

        def sink(stream: str, data: bytes) -> None:
            output[stream] += data
            self._say("output", id=job["id"], stream=stream, data_base64=encoded(data))

        try:
            result = self._ask(job, patience, sink)
        except Failure as failure:
            result = {"outcome": "error", "error": report(failure)}
            if failure.sandbox is not None:
                result["sandbox_id"] = failure.sandbox
        except TimedOut:
            result = {"outcome": "timed-out"}
        except Cancelled:
            result = {"outcome": "cancelled"}
        except Exception as error:  # a bug of ours; its text could hold anything, so only its name is told
            failure = Failure("other", f"internal error: {type(error).__name__}")
            result = {"outcome": "error", "error": report(failure)}
        if job.get("op") in ("execute", "terminal", "follow"):
            result |= {f"{stream}_base64": encoded(data) for stream, data in output.items()}
        self._running.pop(job["id"], None)
        self._say("result", id=job["id"], **result)

    def _ask(self, job: dict[str, Any], patience: Patience, sink: Sink) -> dict[str, Any]:
        client = Client(job["base_url"], job["api_key"], job["sandbox_id"])
        leases = Leases(job["base_url"], job["api_key"])
        match job.get("op"):
            case "execute":
                stdin = base64.b64decode(job.get("stdin_base64", ""))
                status = client.execute(job["command"], patience, sink, job.get("cwd"), job.get("env"), stdin)
            case "terminal":
                inputs = [
                    base64.b64decode(item["data_base64"]) if "data_base64" in item else size_of(item)
                    for item in job.get("input", [])
                ]
                status = client.terminal(job.get("command", []), size_of(job), inputs, patience, sink)
            case "follow":
                status = client.follow(job["process_id"], job.get("after", 0), patience, sink)
            case "connect":
                for frame in client.connect(job["process_id"], job.get("after", 0), patience):
                    self._say("event", id=job["id"], **event(frame))
                return {"outcome": "ended"}
            case "upload":
                client.upload(job["path"], base64.b64decode(job["data_base64"]), patience)
                return {"outcome": "ok"}
            case "download":
                return {"outcome": "ok", "data_base64": encoded(client.download(job["path"], patience))}
            case "acquire":
                policy = job.get("policy", {})
                wanted = {field: job[field] for field in ("shape", "rootfs") if field in job}
                attempts, delay = policy.get("attempts", 1), policy.get("min_delay_ms", 0) / 1000
                prefix = job.get("name_prefix", "lease")
                return {"outcome": "ok", "sandbox_id": leases.acquire(wanted, prefix, attempts, delay, patience)}
            case "release":
                leases.release(job["sandbox_id"], patience)
                return {"outcome": "ok"}
            case "pause" | "resume" as verb:
                leases.change(verb, job["sandbox_id"], patience)
                return {"outcome": "ok"}
            case _:
                raise Failure("unsupported", "this client has no such op")
        return {"outcome": "exited", "exit_code": status[0], "signal": status[1]}

    def _say(self, kind: str, /, **fields: Any) -> None:
        # Half a character, written as an escape, is a text for Python alone: it becomes a question mark.
        line = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode(errors="replace") + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()


def size_of(job: dict[str, Any]) -> Size:
    return {"rows": job.get("rows", 24), "cols": job.get("cols", 80)}


def event(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame as an `event` message: its fields as they are. Those that it does not have, or not as text where the
    message has text, are left out."""
    names = ("seq", "stream", "data_base64", "exit_code", "signal", "error")
    fields = {name: frame[name] for name in names if name in frame}
    for name in ("stream", "data_base64", "error"):
        if not isinstance(fields.get(name, ""), str):
            del fields[name]
    kind = frame.get("type")
    if kind == "error":
        fields["error"] = str(frame.get("error", ""))
    return {"kind": kind if kind in ("data", "exit", "heartbeat", "error") else "other", **fields}


def report(failure: Failure) -> dict[str, Any]:
    fields = {"kind": failure.kind, "message": failure.message}
    if failure.status is not None:
        fields["http_status"] = failure.status
    if failure.errno is not None:
        fields["errno"] = failure.errno
    if failure.transient is not None:
        fields["transient"] = failure.transient
    if failure.cause is not None:
        fields["cause"] = report(failure.cause)
    return fields


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(VERSION)
    else:
        Adapter(sys.stdin.buffer, sys.stdout.buffer).run()
