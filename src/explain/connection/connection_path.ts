/** The stations of one connection in order, and the first that is wrong. */
import type { Answer, Detail, PlainStation, StationKind } from "../answer_schema.ts";

export interface End {
  readonly verdict: Answer["verdict"];
  /** One sentence: what decided. */
  readonly reason: string;
  /** The field and its change; empty if there is none. */
  readonly fix: string;
}

/** A station; with an end the connection goes no further. */
export interface Step {
  readonly station: PlainStation;
  readonly end?: End | undefined;
  /** What to do about a station that is not known. */
  readonly fix?: string;
}

/** A station with defaults for the parts that are not given. */
export function stationOf(kind: StationKind, parts: Partial<Omit<PlainStation, "kind">>): PlainStation {
  return { kind, name: "", source: "seen", result: "ok", message: "", detail: {}, ...parts };
}

/** A step that goes on. */
export function passing(kind: StationKind, parts: Partial<Omit<PlainStation, "kind">>): Step {
  return { station: stationOf(kind, parts) };
}

/** A step at which the connection is refused. */
export function refusing(kind: StationKind, parts: Partial<Omit<PlainStation, "kind">>, fix: string): Step {
  const station = stationOf(kind, { result: "error", ...parts });
  return { station, end: { verdict: "refused", reason: sentence(station.message), fix } };
}

/** A step that is not known, after which more may be. */
export function unsure(kind: StationKind, parts: Partial<Omit<PlainStation, "kind">>): Step {
  return passing(kind, { source: "unknown", result: "unknown", ...parts });
}

/** A step after which nothing is known. */
export function unknowing(kind: StationKind, parts: Partial<Omit<PlainStation, "kind">>, fix = ""): Step {
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

/** The command for a resource such as `VirtualService shop/reviews`; empty if it is not one of a namespace. */
export function editing(resource: string): string {
  const [, kind = "", namespace, name] = /^([A-Z]\w+) ([\w.-]+)\/([\w.-]+)$/.exec(resource) ?? [];
  return name === undefined ? "" : `: kubectl edit -n ${namespace} ${kind.toLowerCase()}/${name}`;
}

type Cluster = Answer["clusters"][number];
type Endpoint = Answer["endpoints"][number];

/** Stations that decide where a connection goes; the others only let it pass or not. */
const DIVERTING: readonly StationKind[] = ["dns", "kernel", "listener", "filter-chain", "route"];

interface Doubt {
  readonly reason: string;
  readonly fix: string;
  readonly isDiverting: boolean;
}

/** Collects an answer. */
export class ConnectionPath {
  readonly #stations: PlainStation[] = [];
  readonly #clusters: Cluster[] = [];
  readonly #endpoints = new Map<string, Endpoint>();
  #end: End | undefined;
  #doubt: Doubt | undefined;
  /** A problem that does not change the verdict. */
  #concern: Pick<End, "reason" | "fix"> | undefined;

  constructor(private readonly pod: string, private readonly direction: Answer["direction"]) {}

  /** Adds a station; `false` if the connection ends there. */
  add({ station, end, fix }: Step): boolean {
    this.#stations.push(station);
    if (station.result === "unknown") this.doubt(station, fix);
    if (end === undefined) {
      if (station.result === "warning") this.concern({ reason: sentence(station.message), fix: "" });
      return true;
    }
    this.end(end);
    return false;
  }

  /** Adds a station on which nothing depends. */
  show(station: PlainStation): void {
    this.#stations.push(station);
  }

  /** Adds a station that does not end the connection, whatever its own end is. */
  note({ station, fix }: Step): void {
    this.#stations.push(station);
    if (station.result === "unknown") this.doubt(station, fix);
  }

  /** A station that is not known: the verdict depends on it. The first one counts. */
  doubt({ kind, message }: PlainStation, fix = ""): void {
    this.#doubt ??= { reason: sentence(message), fix, isDiverting: DIVERTING.includes(kind) };
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

  /** The first end that is known counts; one that is not known ends what can be said. */
  end(end: End): void {
    if (end.verdict === "unknown") this.#doubt = { ...end, isDiverting: this.#doubt?.isDiverting === true };
    else this.#end ??= end;
  }

  concern(concern: Pick<End, "reason" | "fix">): void {
    this.#concern ??= concern;
  }

  /** The answer: never better than the worst station. A connection that nothing stops reaches its endpoints. */
  answer(): Answer {
    const endpoints = [...this.#endpoints.values()];
    const end = this.#decided(endpoints);
    const side = this.direction === "outbound" ? "client" : "server";
    return {
      pod: this.pod,
      direction: this.direction,
      verdict: end.verdict,
      reason: end.reason,
      fix: end.fix,
      stations: this.#stations.map((station) => ({ ...station, pod: this.pod, side })),
      clusters: this.#clusters,
      endpoints,
    };
  }

  /** Refused is refused, whatever a station before allows; but after an unknown turn it may be another connection. */
  #decided(endpoints: readonly Endpoint[]): End {
    const end = this.#end;
    const doubt = this.#doubt;
    if (doubt === undefined) return end ?? this.#reached(endpoints);
    if (end?.verdict === "refused" && !doubt.isDiverting) return end;
    const { reason, fix } = doubt;
    const otherwise = end === undefined ? "" : `; as far as is known: ${lowered(end.reason)}`;
    return { verdict: "unknown", reason: `${reason}${otherwise}`, fix: fix === "" ? end?.fix ?? "" : fix };
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
