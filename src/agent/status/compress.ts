/** Compression of answers: gzip and zstd, as pilot-agent has them. */

type Encoding = "gzip" | "zstd";
/** The better first, which decides between equals. */
const ENCODINGS: readonly Encoding[] = ["zstd", "gzip"];
/** Smaller bodies only grow. */
const SMALLEST = 1024;

/** The encoding that an Accept-Encoding field likes best of those that there are; `undefined` for none. */
export function preferredEncoding(accept: string): Encoding | undefined {
  const qualities = new Map(accept.toLowerCase().split(",").map(qualityOf));
  const rated = ENCODINGS.map((encoding) => ({
    encoding,
    quality: qualities.get(encoding) ?? qualities.get("*") ?? 0,
  }));
  const [best] = rated.sort((a, b) => b.quality - a.quality);
  return best !== undefined && best.quality > 0 ? best.encoding : undefined;
}

/** `gzip;q=0.5`; a quality that is no number is none. */
function qualityOf(item: string): readonly [string, number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  const number = Number(quality?.slice(2) ?? 1);
  return [name, Number.isNaN(number) ? 0 : number];
}

/**
 * The answer in the encoding that the request likes best; as it is if its body is known to be small. The fields of a
 * request are costly in Deno (3 KB of garbage), so that they are not read for an answer without a body.
 */
export async function compressed(request: Request, response: Response): Promise<Response> {
  const { body, status } = response;
  if (body === null) return response;
  const accept = request.headers.get("accept-encoding") ?? "";
  const encoding = isWorthIt(response) ? preferredEncoding(accept) : undefined;
  const fields = new Headers(response.headers);
  fields.append("vary", "Accept-Encoding");
  if (encoding === undefined) {
    // Deno.serve would compress by itself, with encodings that pilot-agent does not know.
    fields.set("cache-control", "no-transform");
    return new Response(body, { status, headers: fields });
  }
  fields.set("content-encoding", encoding);
  fields.delete("content-length");
  return new Response(await encode(encoding, body), { status, headers: fields });
}

function isWorthIt({ headers }: Response): boolean {
  const length = headers.get("content-length");
  return length === null || Number(length) >= SMALLEST;
}

async function encode(encoding: Encoding, body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  if (encoding === "gzip") return body.pipeThrough(new CompressionStream("gzip"));
  const { zstdStream } = await import("./zstd.ts");
  return body.pipeThrough(zstdStream());
}
