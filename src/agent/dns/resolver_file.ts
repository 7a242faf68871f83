/** The resolver's configuration as it is now: read anew when a question comes and it is older than some seconds. */
import { messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { World } from "../../core/world/world.ts";
import { readResolvConf, type ResolvConf } from "./resolv_conf.ts";

/** No timer wakes an agent that is not asked. */
const FRESH_MILLISECONDS = 5000;

const NO_CONF: ResolvConf = { servers: [], search: undefined, unreadable: [] };

/** Keeps it. */
export class ResolverFile {
  #conf: ResolvConf = NO_CONF;
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

  /** What is known; a file that may have changed is read behind this. */
  current(): ResolvConf {
    if (!this.#isReading && this.world.clock.monotonic() - this.#readAt >= FRESH_MILLISECONDS) void this.read();
    return this.#conf;
  }

  /** Reads it; one that cannot be read leaves what was known. */
  async read(): Promise<ResolvConf> {
    this.#isReading = true;
    this.#readAt = this.world.clock.monotonic();
    try {
      this.#take(await this.world.files.readText(this.path));
      this.#problem = "";
    } catch (error) {
      this.#tell(messageOf(error));
    } finally {
      this.#isReading = false;
    }
    return this.#conf;
  }

  #take(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#conf = readResolvConf(text, this.port);
    const { servers, unreadable } = this.#conf;
    if (unreadable.length > 0) {
      this.log.warning(logText(`"${this.path}" names servers that are no addresses: ${unreadable.join(", ")}`));
    }
    if (servers.length === 0) {
      this.log.warning(logText(`"${this.path}" names no server: names that the mesh does not have cannot be found`));
    }
  }

  #tell(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.log.warning(logText(`Names that the mesh does not have are asked of the servers known before: ${problem}`));
  }
}
