/**
 * Runs a command in a container, as `kubectl exec` does since Kubernetes 1.30: over a WebSocket to the API server,
 * whose messages begin with the number of a stream (k8s.io/apimachinery, pkg/util/remotecommand; KEP-4006).
 */
import { apiPath } from "../api_path.ts";
import { parseJson } from "../../base/json.ts";
import { joinBytes } from "../../base/bytes.ts";
import { messageOf } from "../../base/errors.ts";
import { isMap, mapAt, mapsAt, textAt } from "../../base/value.ts";
import { unlessAborted, type WebSocketConnection } from "../../platform/mod.ts";
import { ApiError } from "./api.ts";
import { containerOf, ExecError, execFailure, type ExecRequest, type HeldRequest } from "./exec_failure.ts";
import { refusal } from "./failure.ts";
import { readAll } from "./read_all.ts";
import type { Transport } from "./transport.ts";

/**
 * The protocol versions. Version 5 only adds a way to close one stream. Servers before Kubernetes 1.30 support only
 * version 4.
 */
const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;

export interface ExecResult {
  readonly code: number;
  readonly stdout: Uint8Array;
  /** The first 64 KiB of standard error. */
  readonly stderr: string;
}

const MAX_STDERR = 64 * 1024;
const MAX_ANSWER = 64 * 1024;

/**
 * Runs a command with empty standard input, and waits until it exits.
 * Rejects with an ExecError if the command cannot run, takes too long or writes too much.
 */
export async function exec(transport: Transport, request: ExecRequest): Promise<ExecResult> {
  const timeout = AbortSignal.timeout(request.timeout);
  try {
    const socket = await open(transport, request, timeout);
    try {
      return await unlessAborted(collect(socket, request), timeout);
    } finally {
      socket.close();
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (!timeout.aborted) throw execFailure(`the connection broke: ${messageOf(error)}`, request, error);
    const text = `The command "${request.command.join(" ")}" in ${
      containerOf(request)
    } did not exit within ${request.timeout} ms`;
    throw new ExecError("timeout", text, { hint: "the container may be stuck, or the node overloaded", cause: error });
  }
}

/**
 * Starts a command whose empty standard input stays open until the signal fires or this process exits. Ignores the
 * output of the command. Returns false if the command did not start in time.
 */
export async function hold(transport: Transport, request: HeldRequest, signal: AbortSignal): Promise<boolean> {
  try {
    const opened = transport.webSocket(pathOf(request, "stdin"), PROTOCOLS, signal);
    await unlessAborted(opened, AbortSignal.timeout(request.timeout));
    return true;
  } catch {
    // The API server refused the request, or did not answer in time.
    return false;
  }
}

async function open(transport: Transport, request: ExecRequest, signal: AbortSignal): Promise<WebSocketConnection> {
  const path = pathOf(request, "stdout", "stderr");
  try {
    return await transport.webSocket(path, PROTOCOLS, signal);
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    await explainRefusal(transport, request, signal);
    // The server accepts the request, so try once more. The first attempt may have had an expired credential.
    return await transport.webSocket(path, PROTOCOLS, signal).catch((again) => {
      throw new ExecError(
        "no-websocket",
        `The Kubernetes API server "${transport.connection.server}" does not open a WebSocket for exec: ${
          messageOf(again)
        }`,
        { hint: "a proxy or load balancer in front of the API server may block WebSockets", cause: error },
      );
    });
  }
}

function pathOf({ namespace, pod, container, command }: HeldRequest, ...streams: readonly string[]): string {
  const query = new URLSearchParams([["container", container], ...streams.map((stream) => [stream, "true"])]);
  for (const argument of command) query.append("command", argument);
  return `${apiPath("api/v1", "pods", namespace, pod)}/exec?${query}`;
}

/**
 * Finds out why the WebSocket was refused: sends the request again without an upgrade, and throws the reason in the
 * answer. Returns if the only reason is "Upgrade request required", because a WebSocket request would be accepted.
 */
async function explainRefusal(transport: Transport, request: ExecRequest, signal: AbortSignal): Promise<void> {
  const path = pathOf(request, "stdout", "stderr");
  let status: number;
  let text: string;
  try {
    const response = await transport.send({ method: "GET", path, signal, milliseconds: request.timeout });
    status = response.status;
    text = await readAll(response, MAX_ANSWER);
  } catch (error) {
    if (error instanceof ApiError) throw new ExecError("unreachable", error.message, error);
    throw error;
  }
  if (status === 400 && /upgrade/i.test(text)) return;
  const asked = { what: `exec in ${containerOf(request)}`, server: transport.connection.server };
  const refused = refusal(status, text, { ...asked, origin: transport.connection.origin });
  if (status === 403) {
    throw new ExecError("forbidden", refused.message, {
      status,
      cause: refused,
      hint: `an administrator can grant "get" and "create" on "pods/exec" in the namespace "${request.namespace}"`,
    });
  }
  throw execFailure(refused.message, request, refused);
}

async function collect(socket: WebSocketConnection, request: ExecRequest): Promise<ExecResult> {
  const [out, err, status] = [new Gathered(), new Gathered(), new Gathered()];
  for await (const message of socket.messages) {
    const [stream] = message;
    const bytes = message.subarray(1);
    if (stream === STDOUT) out.add(bytes);
    else if (stream === STDERR && err.length < MAX_STDERR) err.add(bytes.subarray(0, MAX_STDERR - err.length));
    else if (stream === STATUS && status.length < MAX_ANSWER) status.add(bytes);
    if (out.length > request.maxBytes) {
      const text = `The output of "${request.command.join(" ")}" in ${
        containerOf(request)
      } is longer than ${request.maxBytes} bytes`;
      throw new ExecError("too-long", text);
    }
  }
  const decoder = new TextDecoder();
  const stderr = decoder.decode(err.bytes());
  const code = exitCode(decoder.decode(status.bytes()), request);
  return { code, stdout: out.bytes(), stderr };
}

/**
 * Returns the exit code from the `Status` object in the status stream. Throws an ExecError if the command did not run.
 */
function exitCode(text: string, request: ExecRequest): number {
  const status = parseJson(text) ?? null;
  if (!isMap(status)) throw execFailure("the connection closed before the command exited", request);
  if (status["status"] === "Success") return 0;
  const cause = mapsAt(mapAt(status, "details"), "causes").find((each) => each["reason"] === "ExitCode");
  const code = Number(cause === undefined ? NaN : textAt(cause, "message"));
  if (Number.isInteger(code)) return code;
  throw execFailure(textAt(status, "message"), request);
}

class Gathered {
  readonly #chunks: Uint8Array[] = [];
  length = 0;

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.length += bytes.length;
  }

  bytes(): Uint8Array {
    return joinBytes(this.#chunks);
  }
}
