"""Asks the CreateOS SDK for Python (`createos-sandbox` on PyPI) what the harness wants to know.

It does what the SDK's documentation shows and nothing else: a client, a handle to the sandbox, one stream, a loop over
its events. No retry, no check and no clean-up is added. JSON lines on stdin and stdout, one thread a job.
"""

import base64
import json
import sys
import threading
import traceback
from importlib.metadata import version

from createos import APIError, Client, ManagedProcessConnectOptions

PACKAGE = "createos-sandbox"

lock = threading.Lock()
stopped = {}  # of each running job: whether its caller wants to stop


def say(kind, /, **fields):
    line = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode(errors="replace") + b"\n"
    with lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def connect(job, stop):
    """The SDK's own way to read a process: a caller that has enough leaves the loop and the stream is closed."""
    with Client(job["api_key"], base_url=job["base_url"]) as client:
        sandbox = client.get_sandbox(job["sandbox_id"])
        options = ManagedProcessConnectOptions(after_sequence=job.get("after", 0))
        with sandbox.processes.connect(job["process_id"], options) as stream:
            for event in stream:
                say("event", id=job["id"], **told(event))
                if stop.is_set():
                    return {"outcome": "cancelled"}
    return {"outcome": "ended"}


def told(event):
    """What an event of this type has for its reader."""
    kind = str(event.type)
    if kind == "data":
        stream = None if event.stream is None else str(event.stream)
        data = base64.b64encode(event.data).decode()
        return {"kind": kind, "seq": event.sequence, "stream": stream, "data_base64": data}
    if kind == "exit":
        return {"kind": kind, "exit_code": event.exit_code, "signal": event.signal}
    if kind == "error":
        return {"kind": kind, "error": event.error_message}
    return {"kind": kind}


def failure(error):
    """The error as a user sees it at the end of a traceback. Its kind is told only where the SDK has a type for it."""
    report = {"kind": "other", "message": "".join(traceback.format_exception_only(error)).strip()}
    if isinstance(error, APIError):
        report |= {"kind": "http-error", "http_status": error.status_code}
    return report


def run(job, stop):
    try:
        if job["op"] == "connect":
            result = connect(job, stop)
        else:
            result = {"outcome": "error", "error": {"kind": "unsupported", "message": "no such op"}}
    except Exception as error:
        result = {"outcome": "error", "error": failure(error)}
    stopped.pop(job["id"], None)
    say("result", id=job["id"], **result)


def main():
    client = {"name": PACKAGE, "version": version(PACKAGE), "language": "Python"}
    say("hello", protocol=1, client=client, capabilities=["connect", "cancel"])
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "job":
            stop = stopped[message["id"]] = threading.Event()
            threading.Thread(target=run, args=(message, stop), daemon=True).start()
        elif message["type"] == "cancel" and message["id"] in stopped:
            stopped[message["id"]].set()


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(version(PACKAGE))
    else:
        main()
