"""Asks the CreateOS SDK for Python (`createos-sandbox` on PyPI) what the harness wants to know.

It does what the SDK's documentation shows and nothing else: a client, a handle to the sandbox, a call or a loop over the
events of a stream. No retry, no check and no clean-up is added. JSON lines on stdin and stdout, one thread a job.
"""

import base64
import json
import sys
import threading
import traceback
import uuid
from importlib.metadata import version

from createos import (
    APIError,
    Client,
    CreateSandboxRequest,
    ExecOptions,
    ManagedProcessConnectOptions,
    RunCommandRequest,
)

PACKAGE = "createos-sandbox"

lock = threading.Lock()
stopped = {}  # of each running job: whether its caller wants to stop


def say(kind, /, **fields):
    line = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode(errors="replace") + b"\n"
    with lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def connect(job, client, stop):
    """The SDK's own way to read a process: a caller that has enough leaves the loop and the stream is closed."""
    sandbox = client.get_sandbox(job["sandbox_id"])
    options = ManagedProcessConnectOptions(after_sequence=job.get("after", 0))
    with sandbox.processes.connect(job["process_id"], options) as stream:
        for event in stream:
            say("event", id=job["id"], **told(event))
            if stop.is_set():
                return {"outcome": "cancelled"}
    return {"outcome": "ended"}


def exec_(job, client, stop):
    """A command with its output in one piece. The SDK hands over text."""
    result = client.get_sandbox(job["sandbox_id"]).run_command(*command(job)).result
    output = {"stdout_base64": text(result.standard_output), "stderr_base64": text(result.standard_error)}
    if result.error_message:
        return {"outcome": "error", "error": {"kind": "stream-error", "message": result.error_message}, **output}
    return {"outcome": "exited", "exit_code": result.exit_code, "signal": None, **output}


def exec_stream(job, client, stop):
    """A command's events, added up. Whether an exit came is the caller's affair: without one there is no code."""
    output, code, error = {"stdout": "", "stderr": ""}, None, None
    with client.get_sandbox(job["sandbox_id"]).stream_command(*command(job)) as stream:
        for event in stream:
            kind = str(event.type)
            if kind in output:
                output[kind] += event.data
            elif kind == "error":
                error = event.error_message
            elif kind == "exit":
                code = event.exit_code
            if stop.is_set():
                return {"outcome": "cancelled"}
    fields = {f"{name}_base64": text(data) for name, data in output.items()}
    if error is not None:
        return {"outcome": "error", "error": {"kind": "stream-error", "message": str(error)}, **fields}
    return {"outcome": "exited", "exit_code": code, "signal": None, **fields}


def command(job):
    program, *arguments = job["command"]
    stdin = base64.b64decode(job["stdin_base64"]).decode() if job.get("stdin_base64") else None
    return RunCommandRequest(command=program, arguments=arguments), ExecOptions(standard_input=stdin)


def text(text):
    return base64.b64encode(text.encode(errors="replace")).decode()


def upload(job, client, stop):
    client.get_sandbox(job["sandbox_id"]).files.upload(job["path"], base64.b64decode(job["data_base64"]))
    return {"outcome": "ok"}


def download(job, client, stop):
    with client.get_sandbox(job["sandbox_id"]).files.download(job["path"]) as stream:
        return {"outcome": "ok", "data_base64": base64.b64encode(stream.read()).decode()}


def acquire(job, client, stop):
    """A sandbox that runs. Once the SDK has given a handle, its caller knows what was made."""
    name = f"{job.get('name_prefix', 'sandbox')}-{uuid.uuid4().hex[:12]}"
    request = CreateSandboxRequest(shape=job.get("shape", ""), rootfs=job.get("rootfs", ""), name=name)
    sandbox = client.create_sandbox(request)
    try:
        sandbox.wait_until_running()
    except Exception as error:
        return {"outcome": "error", "sandbox_id": str(sandbox.id), "error": failure(error)}
    return {"outcome": "ok", "sandbox_id": str(sandbox.id)}


def release(job, client, stop):
    client.get_sandbox(job["sandbox_id"]).destroy()
    return {"outcome": "ok"}


def pause(job, client, stop):
    client.get_sandbox(job["sandbox_id"]).pause().wait_until_paused()
    return {"outcome": "ok"}


def resume(job, client, stop):
    client.get_sandbox(job["sandbox_id"]).resume().wait_until_running()
    return {"outcome": "ok"}


OPS = {
    "connect": connect,
    "exec": exec_,
    "exec-stream": exec_stream,
    "upload": upload,
    "download": download,
    "acquire": acquire,
    "release": release,
    "pause": pause,
    "resume": resume,
}


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
        if job["op"] in OPS:
            with Client(job["api_key"], base_url=job["base_url"]) as client:
                result = OPS[job["op"]](job, client, stop)
        else:
            result = {"outcome": "error", "error": {"kind": "unsupported", "message": "no such op"}}
    except Exception as error:
        result = {"outcome": "error", "error": failure(error)}
    stopped.pop(job["id"], None)
    say("result", id=job["id"], **result)


def main():
    client = {"name": PACKAGE, "version": version(PACKAGE), "language": "Python"}
    say("hello", protocol=1, client=client, capabilities=[*OPS, "cancel"])
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
