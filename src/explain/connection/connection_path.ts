/** The stations of one connection in order, and the first that is wrong. */
import type { Answer, Detail, Station, StationKind } from "../answer_schema.ts";

export interface End {
  readonly verdict: Answer["verdict"];
  /** One sentence: what decided. */
  readonly reason: string;
  /** The field and its change; empty if there is none. */
  readonly fix: string;
}

/** A station; with an end the connection goes no further. */
export interface Step {
  readonly station: Station;
  readonly end?: End | undefined;
}

/** A station with defaults for the parts that are not given. */
export function stationOf(kind: StationKind, parts: Partial<Omit<Station, "kind">>): Station {
  return { kind, name: "", source: "seen", result: "ok", message: "", detail: {}, ...parts };
}

/** A step that goes on. */
export function passing(kind: StationKind, parts: Partial<Omit<Station, "kind">>): Step {
  return { station: stationOf(kind, parts) };
}

/** A step at which the connection is refused. */
export function refusing(kind: StationKind, parts: Partial<Omit<Station, "kind">>, fix: string): Step {
  const station = stationOf(kind, { result: "error", ...parts });
  return { station, end: { verdict: "refused", reason: sentence(station.message), fix } };
}

/** A step that is not known, after which more may be. */
export function unsure(kind: StationKind, parts: Partial<Omit<Station, "kind">>): Step {
  return passing(kind, { source: "unknown", result: "unknown", ...parts });
}

/** A step after which nothing is known. */
export function unknowing(kind: StationKind, parts: Partial<Omit<Station, "kind">>, fix = ""): Step {
  const station = stationOf(kind, { source: "unknown", result: "unknown", ...parts });
  return { station, end: { verdict: "unknown", reason: sentence(station.message), fix } };
}

/** Details without `undefined`, empty strings and empty lists. */
export function detailOf(values: Readonly<Record<string, Detail[string] | undefined>>): Detail {
  const known: Record<string, Detail[string]> = {};
  for (const [name, value] of Object.entries(values)) {
    const isEmpty = value === undefined || value === "" || Array.isArray(value) && value.length === 0;
    if (!isEmpty) known[name] = value;
  }
  return known;
}

/** The clauses that are not empty, joined. */
export function clauses(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

/** A clause with a capital; names of files, clusters and rules keep their first letter. */
export function sentence(text: string): string {
  return /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

type Cluster = Answer["clusters"][number];
type Endpoint = Answer["endpoints"][number];

/** Collects an answer. */
export class ConnectionPath {
  readonly #stations: Station[] = [];
  readonly #clusters: Cluster[] = [];
  readonly #endpoints = new Map<string, Endpoint>();
  #end: End | undefined;
  /** A problem that does not change the verdict. */
  #concern: Pick<End, "reason" | "fix"> | undefined;

  constructor(private readonly pod: string, private readonly direction: Answer["direction"]) {}

  /** Adds a station; `false` if the connection ends there. */
  add({ station, end }: Step): boolean {
    this.#stations.push(station);
    if (end === undefined) {
      if (station.result === "warning") this.concern({ reason: sentence(station.message), fix: "" });
      return true;
    }
    this.#end ??= end;
    return false;
  }

  /** Adds a station that does not end the connection, whatever its own end is. */
  note({ station }: Step): void {
    this.#stations.push(station);
  }

  cluster(name: string, weight: number): void {
    this.#clusters.push({ name, weight });
  }

  endpoints(endpoints: readonly Endpoint[]): void {
    for (const each of endpoints) this.#endpoints.set(each.address, each);
  }

  endpointList(): readonly Endpoint[] {
    return [...this.#endpoints.values()];
  }

  end(end: End): void {
    this.#end ??= end;
  }

  concern(concern: Pick<End, "reason" | "fix">): void {
    this.#concern ??= concern;
  }

  /** The answer; a connection that nothing stopped reaches its endpoints. */
  answer(): Answer {
    const endpoints = [...this.#endpoints.values()];
    const end = this.#end ?? this.#reached(endpoints);
    return {
      pod: this.pod,
      direction: this.direction,
      verdict: end.verdict,
      reason: end.reason,
      fix: end.fix,
      stations: this.#stations,
      clusters: this.#clusters,
      endpoints,
    };
  }

  #reached(endpoints: readonly Endpoint[]): End {
    const clusters = this.#clusters.map(({ name, weight }) => weight === 100 ? name : `${name} (${weight}%)`).join(
      ", ",
    );
    const count = endpoints.length === 1 ? endpoints[0]?.address ?? "" : `${endpoints.length} endpoints`;
    const tls = this.#stations.find(({ kind }) => kind === "tls")?.message ?? "";
    const reason = `It goes to ${clusters}${endpoints.length === 0 ? "" : `, ${count}`}${tls === "" ? "" : `: ${tls}`}`;
    const { reason: concern = "", fix = "" } = this.#concern ?? {};
    return { verdict: "reaches", reason: concern === "" ? reason : `${reason}; but ${lowered(concern)}`, fix };
  }
}

/** A sentence as a clause. Names such as `RBAC` keep their capitals. */
function lowered(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
