"""A client that is right, but not every time: the first argument says how, the second is python-follow's adapter.

    wrong-status   every second time of a case another exit code is told
    looks-first    every second time of a case the process is looked at before it is followed, which is no mistake
"""

import http.client
import runpy
import sys
import threading
import urllib.parse

HOW, PATH = sys.argv[1:]
HONEST = runpy.run_path(PATH)


class Flaky(HONEST["Adapter"]):
    asked = {}
    lock = threading.Lock()

    def _ask(self, job, patience, sink):
        case = job["id"].split("#")[0]
        with self.lock:
            times = self.asked[case] = self.asked.get(case, 0) + 1
        if times % 2 == 0 and HOW == "looks-first" and job["op"] == "follow":
            look(job)
        result = super()._ask(job, patience, sink)
        if times % 2 == 0 and HOW == "wrong-status":
            result["exit_code"] += 1
        return result


def look(job):
    where = urllib.parse.urlsplit(job["base_url"])
    connection = http.client.HTTPConnection(where.hostname, where.port)
    path = f"/v1/sandboxes/{job['sandbox_id']}/processes/{job['process_id']}"
    connection.request("GET", path, headers={"X-Api-Key": job["api_key"]})
    connection.getresponse().read()
    connection.close()


Flaky(sys.stdin.buffer, sys.stdout.buffer).run()
