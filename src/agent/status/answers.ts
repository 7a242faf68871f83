/** A short answer as Go's `http.Error` gives it; the empty text is no body. */
export function plainText(status: number, text: string): Response {
  if (text === "") return new Response(null, { status });
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(`${text}\n`, { status, headers });
}
