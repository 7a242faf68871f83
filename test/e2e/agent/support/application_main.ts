/**
 * The application of a pod as a program. It serves HTTP on port 8080 and on the addresses in `ALSO`, and sends the
 * requests that it reads from standard input as JSON lines, until the input ends.
 */
import { linesOf } from "../../../../src/base/text/mod.ts";
import { DEADLINE_MILLISECONDS } from "../../../support/until.ts";

/** A request to send. */
export interface Ask {
  readonly id: number;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result: a status and a text, or status 0 and an error. */
export interface Reply {
  readonly id: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A line of standard input: a request to send, an additional address to serve, or the end of all `/wait` requests. */
export type Command = Ask | { readonly listen: string } | "release";

const output = Deno.stdout.writable.getWriter();
const held: (() => void)[] = [];
/** The status of `/health`; requests to `/sick` and `/well` change it. */
let health = 200;

const PAGES: Readonly<Record<string, (from: string, headers: Headers) => Promise<Response> | Response>> = {
  "/": (from) => new Response(`from ${from}\n`),
  "/headers": (_, headers) => Response.json(Object.fromEntries(headers)),
  "/healthz": (from) => new Response(`healthy, ${from}\n`),
  "/health": () => new Response("", { status: health }),
  "/sick": () => new Response(`${health = 500}\n`),
  "/well": () => new Response(`${health = 200}\n`),
  "/metrics": () => new Response("# TYPE application_requests counter\napplication_requests 7\n"),
  async "/wait"() {
    send("held");
    await new Promise<void>((resolve) => held.push(resolve));
    return new Response("waited\n");
  },
};

function serve(request: Request, { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>) {
  const from = remoteAddr.hostname.replace("::ffff:", "");
  return PAGES[new URL(request.url).pathname]?.(from, request.headers) ??
    new Response("no such page\n", { status: 404 });
}

function send(value: Reply | "started" | "held"): void {
  // Writes are sequential, because a line may be larger than the pipe's buffer.
  output.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
}

async function answer({ id, url, ...init }: Ask): Promise<void> {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  try {
    const response = await fetch(url, {
      ...init,
      client,
      redirect: "manual",
      signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
    });
    send({ id, status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() });
  } catch (error) {
    send({ id, status: 0, headers: {}, text: String(error) });
  }
  client.close();
}

/** `[ADDRESS:]PORT` */
function listen(place: string): void {
  const [port = "", hostname = "::"] = place.split(":").reverse();
  Deno.serve({ hostname, port: Number(port), onListen: () => {} }, serve);
}

for (const place of Deno.env.get("ALSO")?.split(",") ?? []) listen(place);
Deno.serve({ hostname: "::", port: 8080, onListen: () => send("started") }, serve);
for await (const line of linesOf(Deno.stdin.readable)) {
  const command: Command = JSON.parse(line);
  if (command === "release") { for (const each of held.splice(0)) each(); }
  else if ("listen" in command) listen(command.listen);
  else answer(command);
}
Deno.exit();
