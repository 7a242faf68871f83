import { MeshError, messageOf } from "../errors.ts";
import type { Network } from "./world.ts";

/** The network, through Deno. */
export const realNetwork: Network = {
  interfaces: () => Deno.networkInterfaces().map(({ name, family, address }) => ({ name, family, address })),
  async fetch(url) {
    const response = await request(url);
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new MeshError(`Cannot read "${url}": the server answered ${response.status} ${response.statusText}`.trim());
    }
    return response.body;
  },
};

async function request(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    throw new MeshError(`Cannot read "${url}": ${messageOf(error)}`, { cause: error });
  }
}
