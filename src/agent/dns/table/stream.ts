/** The xDS stream of the name table; reconnects when it ends. */
import { messageOf } from "../../../base/errors.ts";
import { type GrpcStream, openChannel } from "../../grpc/mod.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import { unlessAborted, type World } from "../../../platform/mod.ts";
import { readToken } from "../../identity/token.ts";
import { INCREMENTAL, nonceOf, type Protocol, STATE_OF_THE_WORLD, type TableResponse } from "./messages.ts";
import { decodeNameTable, NAME_TABLE, type NameTable } from "./name_table.ts";
import type { TableOptions } from "../options.ts";

/** Reconnect delays in milliseconds: doubled each time, then reduced by a random part of up to half. */
const FIRST_DELAY = 500;
const MAX_DELAY = 30_000;

export interface StreamOptions extends TableOptions {
  readonly log: Logger;
  readonly random: () => number;
  readonly changed: (state: TableState) => void;
}

/** Follows the name table. While disconnected, the last table stays in use. */
export class TableStream {
  /** The problem in one line; `undefined` if the table is up to date. */
  problem: string | undefined = "the control plane has sent no name table yet";
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  readonly #protocol: Protocol;
  #state: TableState | undefined;
  #failures = 0;
  #wait = new AbortController();
  #version = "";

  constructor(
    private readonly world: Pick<World, "network" | "files" | "clock">,
    private readonly options: StreamOptions,
  ) {
    this.#protocol = options.isDelta ? INCREMENTAL : STATE_OF_THE_WORLD;
    this.#ended = this.#run();
  }

  /** Reconnects now, because the control plane is reachable again. */
  retry(): void {
    this.#failures = 0;
    this.#wait.abort();
  }

  async close(): Promise<void> {
    this.#end.abort(new Error("the agent ends"));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const reason = await this.#stream().catch(messageOf);
      if (signal.aborted) return;
      this.#reportEnd(reason);
      const max = Math.min(FIRST_DELAY * 2 ** this.#failures++, MAX_DELAY);
      this.#wait = new AbortController();
      const early = AbortSignal.any([signal, this.#wait.signal]);
      await this.world.clock.sleep(max * (0.5 + this.options.random() / 2), early);
    }
  }

  /** Runs one stream. Resolves with the reason for its end. */
  async #stream(): Promise<string> {
    const { endpoint, open, node } = this.options;
    const { signal } = this.#end;
    const to = await unlessAborted(Promise.resolve(endpoint()), signal);
    const channel = open?.(to) ?? openChannel(this.world.network, to);
    try {
      const stream = await channel.stream(this.#protocol.method, { headers: await this.#headers(), signal });
      await stream.send(this.#protocol.encode({ node }));
      // A new stream begins with the full state.
      const seen: { state: TableState | undefined } = { state: undefined };
      for await (const message of stream.messages()) await this.#handle(stream, message, seen);
      return `the control plane at ${to.address} closed the stream of the name table`;
    } finally {
      channel.close();
    }
  }

  async #headers(): Promise<Record<string, string>> {
    const token = await readToken(this.world.files, this.options.tokenFile);
    return { ...this.options.headers, ...token === undefined ? {} : { authorization: `Bearer ${token.text}` } };
  }

  async #handle(stream: GrpcStream, message: Uint8Array, seen: { state: TableState | undefined }): Promise<void> {
    let response: TableResponse | undefined;
    try {
      response = this.#protocol.decode(message);
      if (response.type !== NAME_TABLE) return;
      seen.state = nextState(seen.state, response, this.options.isDelta);
    } catch (error) {
      return await this.#refuse(stream, message, messageOf(error));
    }
    if (seen.state !== this.#state) {
      this.#state = seen.state;
      this.options.changed(seen.state);
    }
    this.#failures = 0;
    this.problem = undefined;
    this.#version = response.version;
    await stream.send(this.#protocol.encode({ version: response.version, nonce: response.nonce }));
  }

  async #refuse(stream: GrpcStream, message: Uint8Array, reason: string): Promise<void> {
    this.problem = `the agent rejected the last name table of the control plane: ${reason}`;
    this.options.log.error(logText(`Rejected a name table, the previous table stays in use: ${reason}`));
    const nonce = nonceOf(message);
    await stream.send(this.#protocol.encode({ version: this.#version, nonce, problem: reason }));
  }

  #reportEnd(reason: string): void {
    const isNew = this.problem !== reason;
    this.problem = reason;
    const what = this.#state === undefined ? "No name table yet" : "The name table may be stale";
    if (isNew) this.options.log.warning(logText(`${what}: ${reason}; retrying`));
  }
}

/** Encoded tables by resource name. Bytes take less memory than decoded tables. */
export type TableState = ReadonlyMap<string, Uint8Array>;

/**
 * Returns the tables after a response. An empty response changes nothing, except that an empty first response means
 * that no names exist. Throws for an invalid table.
 */
export function nextState(state: TableState | undefined, response: TableResponse, isDelta: boolean): TableState {
  const { resources, removed } = response;
  for (const { bytes } of resources) decodeNameTable(bytes);
  if (!isDelta) {
    return resources.length === 0 && state !== undefined
      ? state
      : new Map(resources.map(({ bytes }, at) => [`${at}`, bytes]));
  }
  const next = new Map(state);
  for (const name of removed) next.delete(name);
  for (const { name, bytes } of resources) next.set(name, bytes);
  return next;
}

/** Merges all tables. */
export function tableOf(state: TableState): NameTable {
  const tables = [...state.values()].map(decodeNameTable);
  const [only] = tables;
  return tables.length === 1 && only !== undefined ? only : new Map(tables.flatMap((table) => [...table]));
}
