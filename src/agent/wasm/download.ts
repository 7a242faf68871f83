/** GET over HTTP or HTTPS, with redirects, limits and the certificates of public authorities. */
import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { readAll } from "./unpack.ts";

const MAX_REDIRECTS = 5;

export interface Download {
  readonly headers?: Readonly<Record<string, string>>;
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
  readonly maxBytes?: number;
}

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Rejects with the errors of `client`, and with a MeshError for an answer that is too large or a wrong redirect. */
export async function download(world: World, url: string, options: Download): Promise<Downloaded> {
  let [target, headers] = [new URL(url), options.headers ?? {}];
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await get(world, target, { ...options, headers });
    const location = answer.headers.get("location");
    if (answer.status < 300 || answer.status >= 400 || location === null) return answer;
    const next = new URL(location, target);
    if (next.protocol !== "https:" && next.protocol !== target.protocol) {
      throw new MeshError(`It is redirected from https to ${next.protocol.slice(0, -1)}`);
    }
    // A token is for one server.
    if (next.origin !== target.origin) headers = {};
    target = next;
  }
  throw new MeshError(`It is redirected more than ${MAX_REDIRECTS} times`);
}

async function get(
  world: World,
  url: URL,
  { headers = {}, isInsecure, signal, maxBytes }: Download,
): Promise<Downloaded> {
  const client = await world.network.client({ server: url.origin, insecure: isInsecure });
  try {
    const response = await client.request(url.pathname + url.search, { headers, signal, redirect: "manual" });
    return { status: response.status, headers: response.headers, body: await readAll(response.body, maxBytes) };
  } finally {
    client.close();
  }
}
