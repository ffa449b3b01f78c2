// Asks the CreateOS SDK for TypeScript (`@nodeops-createos/sandbox` on npm) what the harness wants to know.
//
// It does what the SDK's documentation shows and nothing else: a client, a handle to the sandbox, a call or a loop over the
// events of a stream. No retry, no check and no clean-up is added. JSON lines on stdin and stdout, all jobs at once.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import {
  CreateosSandboxApiError,
  CreateosSandboxClient,
  CreateosSandboxConnectionError,
  CreateosSandboxTimeoutError,
} from "@nodeops-createos/sandbox";
// The SDK's fetch, which it loads by itself beside its first request. Loaded here already, it costs no job of its deadline.
import "undici";

const PACKAGE = "@nodeops-createos/sandbox";
const { version } = createRequire(import.meta.url)(`${PACKAGE}/package.json`);

/** Of each running job: how its caller stops it. */
const running = new Map();

function say(type, fields) {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
}

/** A command with its output in one piece. The SDK hands over text. */
async function exec(job, sandbox, options) {
  const { result } = await sandbox.runCommand(...command(job), options);
  const output = { stdout_base64: text(result.stdout), stderr_base64: text(result.stderr) };
  if (result.error) {
    return { outcome: "error", error: { kind: "stream-error", message: result.error }, ...output };
  }
  return { outcome: "exited", exit_code: result.exit_code, signal: null, ...output };
}

/** A command's events, added up. Whether an exit came is the caller's affair: without one there is no code. */
async function execStream(job, sandbox, options, partial) {
  const output = { stdout: "", stderr: "" };
  let code = null;
  let error;
  for await (const event of sandbox.streamCommand(...command(job), options)) {
    if (event.type === "stdout" || event.type === "stderr") {
      output[event.type] += event.data;
      partial[`${event.type}_base64`] = text(output[event.type]);
    } else if (event.type === "error") {
      error = event.message;
    } else if (event.type === "exit") {
      code = event.exitCode;
    }
  }
  if (error !== undefined) {
    return { outcome: "error", error: { kind: "stream-error", message: String(error) }, ...partial };
  }
  return { outcome: "exited", exit_code: code, signal: null, ...partial };
}

/** The program and its arguments. The SDK has no way to give a command standard input. */
function command(job) {
  const [program, ...args] = job.command;
  return [program, args];
}

function text(value) {
  return value === undefined ? undefined : Buffer.from(String(value)).toString("base64");
}

async function upload(job, sandbox, options) {
  await sandbox.files.upload(job.path, Buffer.from(job.data_base64, "base64"), options);
  return { outcome: "ok" };
}

async function download(job, sandbox, options) {
  const bytes = await sandbox.files.download(job.path, options);
  return { outcome: "ok", data_base64: Buffer.from(bytes).toString("base64") };
}

/** One call: by the SDK's documentation, what it gives back runs already, and there is nothing to wait for. */
async function acquire(job, client, options) {
  const name = `${job.name_prefix ?? "sandbox"}-${randomUUID().slice(0, 12)}`;
  const sandbox = await client.createSandbox({ shape: job.shape, rootfs: job.rootfs, name }, options);
  return { outcome: "ok", sandbox_id: `${sandbox.id}` };
}

async function release(job, sandbox, options) {
  await sandbox.destroy(options);
  return { outcome: "ok" };
}

async function pause(job, sandbox, options) {
  await sandbox.pause(options);
  await sandbox.waitUntilPaused({ ...options, request: options });
  return { outcome: "ok" };
}

async function resume(job, sandbox, options) {
  await sandbox.resume(options);
  await sandbox.waitUntilRunning({ ...options, request: options });
  return { outcome: "ok" };
}

/** What is asked of a sandbox that is there; `acquire` is asked of the client. */
const ON_A_SANDBOX = { exec, "exec-stream": execStream, upload, download, release, pause, resume };

/** The error as a user sees it on one line. Its kind is told only where the SDK has a type for it. */
function failure(error) {
  if (error instanceof CreateosSandboxApiError) {
    return { kind: "http-error", message: String(error), http_status: error.statusCode };
  }
  // The SDK's error wraps the one of fetch, and that the one of the socket, which has the code.
  const errno = error.cause?.cause?.code ?? error.cause?.code;
  const kind = error instanceof CreateosSandboxConnectionError ? "transport" : "other";
  return { kind, message: String(error), errno };
}

async function perform(job, stop, partial) {
  const client = new CreateosSandboxClient({ baseUrl: job.base_url, apiKey: job.api_key });
  const options = { signal: stop.signal, timeoutMs: job.timeout_ms };
  if (job.op === "acquire") {
    return acquire(job, client, options);
  }
  const sandbox = await client.getSandbox(job.sandbox_id, options);
  return ON_A_SANDBOX[job.op](job, sandbox, options, partial);
}

async function run(job) {
  const stop = new AbortController();
  const partial = {};
  running.set(job.id, stop);
  let result;
  try {
    if (job.op === "acquire" || Object.hasOwn(ON_A_SANDBOX, job.op)) {
      result = await perform(job, stop, partial);
    } else {
      result = { outcome: "error", error: { kind: "unsupported", message: "no such op" } };
    }
  } catch (error) {
    if (stop.signal.aborted) {
      result = { outcome: "cancelled", ...partial };
    } else if (error instanceof CreateosSandboxTimeoutError) {
      result = { outcome: "timed-out", ...partial };
    } else {
      result = { outcome: "error", error: failure(error), ...partial };
    }
  }
  running.delete(job.id);
  say("result", { id: job.id, ...result });
}

function hear(line) {
  const message = JSON.parse(line);
  if (message.type === "job") {
    run(message);
  } else if (message.type === "cancel") {
    running.get(message.id)?.abort();
  }
}

function main() {
  say("hello", {
    protocol: 1,
    client: { name: PACKAGE, version, language: "TypeScript" },
    capabilities: ["acquire", ...Object.keys(ON_A_SANDBOX), "cancel", "timeout"],
  });
  // Lines end at LF and nowhere else; node:readline also knows U+2028.
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    lines.forEach(hear);
  });
  process.stdin.on("end", () => process.exit());
}

if (process.argv[2] === "--version") {
  console.log(version);
} else {
  main();
}
