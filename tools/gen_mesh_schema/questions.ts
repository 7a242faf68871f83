/** Writes the questions for the oracle in test/oracle/mesh, one JSON line each: see questions in QUESTIONS. */
import { QUESTIONS } from "./question_texts.ts";

const lines = Object.entries(QUESTIONS).flatMap(([kind, texts]) => texts.map((text) => JSON.stringify({ kind, text })));
await Deno.stdout.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
