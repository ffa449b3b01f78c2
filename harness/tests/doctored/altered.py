"""The right client of clients/python-follow, altered in one way. Run as

    python3 altered.py HOW FOLDER DEEDS

with the folder of python-follow. Each job in which the alteration did something is noted in the file DEEDS, a line a job,
so that a test knows what the client did without asking the judge. In jobs of the smoke probe it behaves.

dies        ends the program when a stream's head is there
swallows    a library below the client repeats each failed GET at once, and skips the bytes that it had
asks-again  the adapter repeats the whole op when it fails
leaves      takes the first block of a stream, hangs up, and calls that a broken connection
impatient   hangs up before the answer to a connect has begun
lingers     closes nothing
"""

import os
import sys
import threading
import time

HOW, FOLDER, DEEDS = sys.argv[1:]
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import adapter  # noqa: E402

Right, Response, KEPT, HERE = adapter.Client, adapter.Response, [], threading.local()


def behaves():
    return HERE.job.startswith("smoke/")


def note():
    with open(DEEDS, "a", encoding="utf-8") as deeds:
        deeds.write(HERE.job + "\n")


class Dies(Right):
    def _connect(self, process, after, patience):
        response = super()._connect(process, after, patience)
        if not behaves():
            note()
            os._exit(3)
        return response


class Leaves(Right):
    def _connect(self, process, after, patience):
        response = super()._connect(process, after, patience)
        whole = response.body

        def body():
            for block in whole():
                yield block
                if not behaves():
                    note()
                    raise adapter.Broken

        response.body = body
        return response


class Impatient(Right):
    """Sends the request of a connect and is gone."""

    def _connect(self, process, after, patience):
        if behaves():
            return super()._connect(process, after, patience)

        def gone(response):
            note()
            raise adapter.Broken

        hasty = type("Hasty", (Response,), {"_read_head": gone})
        return hasty(self._base, self._key, "GET", f"{self._processes}/{process}/connect?after={after}", patience)


class Swallows(Right):
    TRIES = 6

    def _connect(self, process, after, patience):
        response = self._opened(process, after, patience)
        if response.status != 200:
            return response

        def body():
            current, passed = response, 0
            for left in reversed(range(self.TRIES)):
                skip = passed
                try:
                    for block in Response.body(current):
                        if skip >= len(block):
                            skip -= len(block)
                            continue
                        block, skip = block[skip:], 0
                        passed += len(block)
                        yield block
                    return
                except adapter.Broken:
                    if not left:
                        raise
                note()
                current.close()
                current = self._opened(process, after, patience)
                if current.status != 200:
                    raise adapter.Broken

        response.body = body
        return response

    def _opened(self, process, after, patience):
        for left in reversed(range(self.TRIES)):
            try:
                response = super()._connect(process, after, patience)
            except adapter.Broken:
                if not left:
                    raise
                note()
                continue
            if response.status < 500 or not left:
                return response
            note()
            response.close()
        raise adapter.Broken


class Jobs(adapter.Adapter):
    """Knows in each thread which job it is for."""

    def _job(self, job, patience):
        HERE.job = job["id"]
        super()._job(job, patience)

    def _ask(self, job, patience, sink):
        if HOW != "asks-again" or behaves():
            return super()._ask(job, patience, sink)
        for left in (2, 1, 0):
            held = []
            try:
                answer = super()._ask(job, patience, lambda *output: held.append(output))
            except adapter.Failure:
                if left:
                    note()
                    time.sleep(0.3)
                    continue
                for output in held:
                    sink(*output)
                raise
            for output in held:
                sink(*output)
            return answer


adapter.Client = {"dies": Dies, "leaves": Leaves, "impatient": Impatient, "swallows": Swallows}.get(HOW, Right)
if HOW == "lingers":

    def close(self):
        self._patience.watch(None)
        if behaves():
            self._socket.close()
        else:
            note()
            KEPT.append(self._socket)

    Response.close = close
Jobs(sys.stdin.buffer, sys.stdout.buffer).run()
