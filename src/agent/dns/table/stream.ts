/** The xDS stream of the name table; reconnects when it ends. */
import { joinBytes } from "../../../base/bytes.ts";
import { messageOf } from "../../../base/errors.ts";
import { type GrpcStream, grpcStream } from "../../grpc/mod.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import { unlessAborted, type World } from "../../../platform/mod.ts";
import { readToken } from "../../identity/token.ts";
import { decodeResponse, encodeRequest, METHOD, tableIn } from "./messages.ts";
import { decodeNameTable, NAME_TABLE, type NameTable } from "./name_table.ts";
import type { TableOptions } from "../options.ts";

/** Reconnect delays in milliseconds: doubled each time, then reduced by a random part of up to half. */
const FIRST_DELAY = 500;
const MAX_DELAY = 30_000;

export interface StreamOptions extends TableOptions {
  readonly log: Logger;
  readonly random: () => number;
  readonly changed: (table: NameTable) => void;
}

/** Follows the name table. While disconnected, the last table stays in use. */
export class TableStream {
  /** The problem in one line; `undefined` if the table is up to date. */
  problem: string | undefined = "the control plane has sent no name table yet";
  /** The encoded table; `undefined` until one arrives. Bytes take less memory than a decoded table. */
  table: Uint8Array | undefined;
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  #failures = 0;
  #wait = new AbortController();
  #version = "";

  constructor(
    private readonly world: Pick<World, "network" | "files" | "clock">,
    private readonly options: StreamOptions,
  ) {
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
    const { endpoint, open = grpcStream, node } = this.options;
    const { signal } = this.#end;
    const to = await unlessAborted(Promise.resolve(endpoint()), signal);
    const headers = await this.#headers();
    const stream = await open(this.world.network, { endpoint: to, method: METHOD, headers, signal });
    try {
      await stream.send(encodeRequest({ node }));
      for await (const message of stream.messages()) await this.#handle(stream, message);
      return `the control plane at ${to.address} closed the stream of the name table`;
    } finally {
      stream.close();
    }
  }

  async #headers(): Promise<Record<string, string>> {
    const token = await readToken(this.world.files, this.options.tokenFile);
    return { ...this.options.headers, ...token === undefined ? {} : { authorization: `Bearer ${token.text}` } };
  }

  /** Uses a table and acknowledges it, or rejects it. */
  async #handle(stream: GrpcStream, message: Uint8Array): Promise<void> {
    const { type, version, nonce, resources } = decodeResponse(message);
    if (type !== NAME_TABLE) return;
    try {
      this.#use(resources);
    } catch (error) {
      const reason = messageOf(error);
      this.problem = `the agent rejected the last name table of the control plane: ${reason}`;
      this.options.log.error(logText(`Rejected a name table, the previous table stays in use: ${reason}`));
      return await stream.send(encodeRequest({ version: this.#version, nonce, problem: reason }));
    }
    this.#failures = 0;
    this.problem = undefined;
    this.#version = version;
    await stream.send(encodeRequest({ version, nonce }));
  }

  /**
   * Replaces the table. If a table exists, ignores a response without resources; otherwise, such a response means that
   * no names exist.
   */
  #use(resources: readonly Uint8Array[]): void {
    if (resources.length === 0 && this.table !== undefined) return;
    // Concatenated protobuf messages are one message: here, a table with the names of all tables.
    const table = joinBytes(resources.map(tableIn));
    const names = decodeNameTable(table);
    this.table = table;
    this.options.changed(names);
  }

  #reportEnd(reason: string): void {
    const isNew = this.problem !== reason;
    this.problem = reason;
    const what = this.table === undefined ? "No name table yet" : "The name table may be stale";
    if (isNew) this.options.log.warning(logText(`${what}: ${reason}; retrying`));
  }
}
