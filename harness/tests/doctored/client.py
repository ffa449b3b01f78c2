"""Clients that have not earned a pass, by the name given as the argument.

Most talk to the server just enough to be taken for clients: each job begins with a request that carries the key.
"""

import base64
import http.client
import json
import os
import sys
import threading
import urllib.parse

HOW = sys.argv[1]
OPS = ["execute", "follow", "connect"]
LOCK = threading.Lock()



def say(message):
    with LOCK:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def ask(job, path):
    """One request with the key; whatever comes back is thrown away."""
    where = urllib.parse.urlsplit(job["base_url"])
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=2)
    try:
        connection.request("GET", path, headers={"X-Api-Key": job["api_key"]})
        return connection.getresponse()
    except OSError:
        return None


def process(job):
    return f"/v1/sandboxes/{job['sandbox_id']}/processes/{job.get('process_id', 'proc_none')}"


def guess(job):
    """What a client would say if all had gone well, from the job alone. (A guess that happens to be right is not told apart from knowledge.)"""
    if job["op"] == "connect":
        return {"outcome": "ended"}
    return {"outcome": "exited", "exit_code": 0, "signal": None, "stdout_base64": base64.b64encode(b"guess\n").decode()}


def own_key(job, key):
    """It takes the key of its own environment for the job's, and is talkative. A repeated job is asked otherwise."""
    sys.stderr.write(f"I use {key}\n")
    sys.stderr.flush()
    if HOW == "own-key-dies":
        os._exit(3)
    ask(job, "/v1/whoami")
    again = "" if job["id"].endswith("#0") else f"&key={key}"
    ask({**job, "api_key": key}, f"{process(job)}/connect?after=0{again}")
    data = base64.b64encode(key.encode()).decode()
    say({"type": "output", "id": job["id"], "stream": "stdout", "data_base64": data})
    cause = {"kind": "other", "message": key}
    error = {"kind": "other", "message": f"refused: {key}", "cause": cause}
    return {"outcome": "error", "stdout_base64": data, "error": error}


def play(job):
    if HOW == "talks-to-nobody":
        return guess(job)
    if HOW == "only-in-smoke":
        # Shows the probe a request, and answers the suite from the job alone.
        if job["id"].startswith("smoke/"):
            ask(job, "/v1/whoami")
        return guess(job)
    if HOW == "never-connects":
        ask(job, "/v1/whoami")
        return guess(job)
    if HOW == "always-an-error":
        ask(job, "/v1/whoami")
        return {"outcome": "error", "error": {"kind": "other", "message": "it did not work"}}
    if HOW == "always-timed-out":
        ask(job, "/v1/whoami")
        return {"outcome": "timed-out"}
    if HOW == "peeks":
        # Connects, reads nothing, leaves, and says what it guesses.
        ask(job, f"{process(job)}/connect?after={job.get('after', 0)}")
        return guess(job)
    if HOW.startswith("own-key"):
        return own_key(job, os.environ["CREATEOS_API_KEY"])
    raise SystemExit(f"no doctored client is called {HOW}")


def answer(job):
    if job["op"] not in OPS:
        say({"type": "result", "id": job["id"], "outcome": "error", "error": {"kind": "unsupported", "message": job["op"]}})
        return
    say({"type": "result", "id": job["id"], **play(job)})


def main():
    capabilities = [*OPS, "resume-stream", "timeout", "cancel", "live-output"]
    version = "1"
    if HOW.startswith("own-key"):
        version = os.environ["CREATEOS_API_KEY"]
        capabilities.append(version)
        if HOW == "own-key-mute":
            print(version)
            sys.exit(f"no hello of {version}")
    say(
        {
            "type": "hello",
            "protocol": 1,
            "client": {"name": HOW, "version": version, "language": "Python"},
            "capabilities": capabilities,
        }
    )
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("type") == "job":
            threading.Thread(target=answer, args=(message,), daemon=True).start()


main()
