/** Compresses responses with gzip or zstd, as in pilot-agent. */

type Encoding = "gzip" | "zstd";
const ENCODINGS: readonly Encoding[] = ["zstd", "gzip"];
/** Minimum size in bytes: smaller bodies would grow. */
const MIN_SIZE = 1024;

/** Returns the best encoding; `undefined` if the client accepts neither. */
export function preferredEncoding(accept: string): Encoding | undefined {
  const qualities = new Map(accept.toLowerCase().split(",").map(qualityOf));
  const rated = ENCODINGS.map((encoding) => ({
    encoding,
    quality: qualities.get(encoding) ?? qualities.get("*") ?? 0,
  }));
  const [best] = rated.sort((a, b) => b.quality - a.quality);
  return best !== undefined && best.quality > 0 ? best.encoding : undefined;
}

/** Parses an item such as `gzip;q=0.5`. An invalid quality counts as 0. */
function qualityOf(item: string): readonly [string, number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  const number = Number(quality?.slice(2) ?? 1);
  return [name, Number.isNaN(number) ? 0 : number];
}

/**
 * Compresses a response, unless the body is known to be small. If there is no body, does not read the request headers,
 * because reading them costs 3 KB of garbage in Deno.
 */
export async function compressed(request: Request, response: Response): Promise<Response> {
  const { body, status } = response;
  if (body === null) return response;
  const accept = request.headers.get("accept-encoding") ?? "";
  const encoding = isWorthIt(response) ? preferredEncoding(accept) : undefined;
  const fields = new Headers(response.headers);
  fields.append("vary", "Accept-Encoding");
  if (encoding === undefined) {
    // Otherwise, Deno.serve would compress the response itself, also with brotli.
    fields.set("cache-control", "no-transform");
    return new Response(body, { status, headers: fields });
  }
  fields.set("content-encoding", encoding);
  fields.delete("content-length");
  return new Response(await encode(encoding, body), { status, headers: fields });
}

function isWorthIt({ headers }: Response): boolean {
  const length = headers.get("content-length");
  return length === null || Number(length) >= MIN_SIZE;
}

async function encode(encoding: Encoding, body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  if (encoding === "gzip") return body.pipeThrough(new CompressionStream("gzip"));
  const { zstdStream } = await import("./zstd.ts");
  return body.pipeThrough(zstdStream());
}
