/** Decodes istiod's name table, the protobuf message `istio.networking.nds.v1.NameTable`. */
import { compareUtf8 } from "../../../golang/go_json.ts";
import { readMessage } from "../../../base/protobuf.ts";

export const NAME_TABLE = "type.googleapis.com/istio.networking.nds.v1.NameTable";

export interface NameInfo {
  readonly ips: readonly string[];
  /** The service registry, such as `Kubernetes`. */
  readonly registry: string;
  readonly shortname: string;
  readonly namespace: string;
  readonly altHosts: readonly string[];
}

export type NameTable = ReadonlyMap<string, NameInfo>;

const TABLE = { entries: 1, key: 1, value: 2 } as const;
const INFO = { ips: 1, registry: 2, shortname: 3, namespace: 4, altHosts: 5 } as const;

/** Decodes a name table. Throws on invalid bytes. */
export function decodeNameTable(bytes: Uint8Array): NameTable {
  const table = new Map<string, NameInfo>();
  readMessage(bytes, {
    [TABLE.entries](reader) {
      const entry = { host: "", info: EMPTY };
      readMessage(reader.bytes(), {
        [TABLE.key]: (inner) => entry.host = inner.string(),
        [TABLE.value]: (inner) => entry.info = decodeInfo(inner.bytes()),
      });
      table.set(entry.host, entry.info);
    },
  });
  return table;
}

const EMPTY: NameInfo = { ips: [], registry: "", shortname: "", namespace: "", altHosts: [] };

function decodeInfo(bytes: Uint8Array): NameInfo {
  const info = { ips: Array<string>(), registry: "", shortname: "", namespace: "", altHosts: Array<string>() };
  readMessage(bytes, {
    [INFO.ips]: (reader) => info.ips.push(reader.string()),
    [INFO.registry]: (reader) => info.registry = reader.string(),
    [INFO.shortname]: (reader) => info.shortname = reader.string(),
    [INFO.namespace]: (reader) => info.namespace = reader.string(),
    [INFO.altHosts]: (reader) => info.altHosts.push(reader.string()),
  });
  return info;
}

/** Prints the table as Istio does: proto JSON, sorted hosts, no empty fields. */
export function nameTableJson(table: NameTable): string {
  if (table.size === 0) return "{}";
  const hosts = [...table].sort(([a], [b]) => compareUtf8(a, b));
  const shown = hosts.map(([host, info]) => `${JSON.stringify(host)}:${JSON.stringify(info, withoutEmpty)}`);
  return `{"table":{${shown.join(",")}}}`;
}

function withoutEmpty(_key: string, value: unknown): unknown {
  return value === "" || (Array.isArray(value) && value.length === 0) ? undefined : value;
}
