/** Answers of HTTP. Deno would compress them for clients that allow it, which costs more than the network between pods. */
const ALWAYS = { "cache-control": "no-store, no-transform", "x-content-type-options": "nosniff" } as const;

type Fields = Readonly<Record<string, string>>;

/** A line of text. */
export function textAnswer(status: number, text: string, fields: Fields = {}): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "text/plain; charset=utf-8", ...fields } });
}

/** JSON that is text or UTF-8 already. */
export function jsonAnswer(status: number, text: string | Uint8Array<ArrayBuffer>): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "application/json" } });
}
