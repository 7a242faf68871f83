import { MeshError } from "../../errors.ts";

/** The whole text of an answer; a MeshError if it is longer than so many bytes. */
export async function readAll(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new MeshError(`The answer is longer than ${maxBytes} bytes`);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}
