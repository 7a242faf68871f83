/** Reads the resolver configuration from resolv.conf(5), parsed as in miekg/dns. */
import { type Nameserver, nameservers } from "../../../golang/net/mod.ts";
import { wireName } from "../wire.ts";
import { messageOf } from "../../../base/errors.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import type { World } from "../../../platform/world.ts";

/** An upstream name server. */
export interface Upstream extends Nameserver {
  readonly port: number;
}

export interface ResolvConf {
  readonly servers: readonly Upstream[];
  /** The first search domain in wire format. */
  readonly search: string | undefined;
  /** Configured name servers that are not IP addresses. */
  readonly invalid: readonly string[];
}

export const DNS_PORT = 53;

/** Parses a resolv.conf. The last line with search domains wins. The root does not count as a search domain. */
export function readResolvConf(text: string, port = DNS_PORT): ResolvConf {
  const { servers, invalid } = nameservers(text);
  const lines = text.split("\n").filter((line) => !/^[#;]/.test(line)).map((line) => line.trim().split(/\s+/));
  const search = lines.findLast(([keyword = "", first]) =>
    (keyword === "search" || keyword === "domain") && first !== undefined
  )?.[1];
  return {
    servers: servers.map((server) => ({ ...server, port })),
    invalid,
    search: search === undefined ? undefined : wireName(search),
  };
}

/** Milliseconds after which the next question causes a refresh. (A timer would wake an idle agent.) */
const MAX_AGE = 5000;

const EMPTY: ResolvConf = { servers: [], search: undefined, invalid: [] };

export class ResolverFile {
  #conf: ResolvConf = EMPTY;
  #text: string | undefined;
  #problem = "";
  #readAt = 0;
  #isReading = false;

  constructor(
    private readonly world: Pick<World, "files" | "clock">,
    private readonly path: string,
    private readonly port: number,
    private readonly log: Logger,
  ) {}

  /** Returns the known configuration; refreshes a stale configuration in the background. */
  current(): ResolvConf {
    if (!this.#isReading && this.world.clock.monotonic() - this.#readAt >= MAX_AGE) void this.read();
    return this.#conf;
  }

  /** Reads the file. On failure, keeps the known configuration. */
  async read(): Promise<ResolvConf> {
    this.#isReading = true;
    this.#readAt = this.world.clock.monotonic();
    try {
      this.#parse(await this.world.files.readText(this.path));
      this.#problem = "";
    } catch (error) {
      this.#logProblem(messageOf(error));
    } finally {
      this.#isReading = false;
    }
    return this.#conf;
  }

  #parse(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#conf = readResolvConf(text, this.port);
    const { servers, invalid } = this.#conf;
    if (invalid.length > 0) {
      this.log.warning(logText(`"${this.path}" lists name servers that are not IP addresses: ${invalid.join(", ")}`));
    }
    if (servers.length === 0) {
      this.log.warning(logText(`"${this.path}" has no name server: names outside the mesh cannot be resolved`));
    }
  }

  #logProblem(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.log.warning(logText(`Names outside the mesh are still forwarded to the previous name servers: ${problem}`));
  }
}
