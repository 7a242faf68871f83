import { MeshError } from "../../../core/errors.ts";
import type { ExchangeAnswer } from "../../../core/world/world.ts";

/** Answers that say where to go on (Go's net/http: redirectBehavior). */
const REDIRECTIONS = [301, 302, 303, 307, 308];
const MOST = 10;

/**
 * Asks, and follows redirections as the kubelet does: those to the same host, ten requests at most. One that leads
 * elsewhere is the answer itself. Throws a `MeshError` if there are too many, and for a Location that is no URL.
 */
export async function followed(
  start: string,
  headers: Headers,
  ask: (url: string, headers: Headers) => Promise<ExchangeAnswer>,
): Promise<ExchangeAnswer> {
  let url = new URL(start);
  for (let asked = 1;; asked++) {
    const answer = await ask(url.href, headers);
    const location = REDIRECTIONS.includes(answer.status) ? answer.headers.get("location") ?? "" : "";
    if (location === "") return answer;
    const next = resolve(location, url);
    if (next.hostname !== url.hostname) return answer;
    if (asked >= MOST) throw new MeshError(`The application redirected ${MOST} times`);
    if (URL.canParse(location)) headers.set("host", next.host);
    url = next;
  }
}

function resolve(location: string, base: URL): URL {
  if (!URL.canParse(location, base)) throw new MeshError(`The application redirects to "${location}", which is no URL`);
  return new URL(location, base);
}
