/** Writes QUESTIONS as JSON lines, the input of the oracle in test/oracle/mesh. */
import { QUESTIONS } from "./question_texts.ts";

const lines = Object.entries(QUESTIONS).flatMap(([kind, texts]) => texts.map((text) => JSON.stringify({ kind, text })));
await Deno.stdout.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
