/** The state of a new API server in etcd, to restore it after a test. */

interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

/** Leases, and events of the API server's own objects, which it writes at any time. */
const OWN_KEYS = /^\/registry\/(leases|masterleases|events\/(default|kube-system))\//;
/** etcd allows 128 operations in a transaction. */
const OPERATIONS = 100;
const ALL = btoa("\0");

/** A snapshot of etcd. {@link EtcdState.restore} removes keys that were added since, and resets changed ones. */
export class EtcdState {
  private constructor(readonly url: string, readonly values: ReadonlyMap<string, KeyValue>) {}

  static async record(url: string): Promise<EtcdState> {
    return new EtcdState(url, await range(url, {}));
  }

  /** The API server receives the changes by its watches, as if another API server had made them. */
  async restore(): Promise<void> {
    const now = await range(this.url, { keys_only: true });
    const added = [...now.keys()].filter((key) => !this.values.has(key));
    const changed = [...this.values.values()].filter(({ key, mod_revision }) =>
      now.get(key)?.mod_revision !== mod_revision
    );
    const operations = [
      ...added.map((key) => ({ request_delete_range: { key } })),
      ...changed.map(({ key, value = "" }) => ({ request_put: { key, value } })),
    ];
    for (let start = 0; start < operations.length; start += OPERATIONS) {
      await ask(this.url, "txn", { success: operations.slice(start, start + OPERATIONS) });
    }
  }
}

async function range(url: string, options: { readonly keys_only?: boolean }): Promise<Map<string, KeyValue>> {
  const { kvs }: { kvs: readonly KeyValue[] } = await ask(url, "range", { key: ALL, range_end: ALL, ...options });
  return new Map(kvs.filter(({ key }) => !OWN_KEYS.test(atob(key))).map((each) => [each.key, each]));
}

/** The JSON gateway of etcd; keys and values are base64. */
async function ask(url: string, operation: string, body: unknown) {
  const answer = await fetch(`${url}/v3/kv/${operation}`, { method: "POST", body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`etcd ${operation}: ${text}`);
  return JSON.parse(text);
}
