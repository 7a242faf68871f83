/** Writes the questions for the oracle in test/oracle/mesh, one JSON line each: see questions in QUESTIONS. */
import { QUESTIONS } from "./question_texts.ts";

for (const [kind, texts] of Object.entries(QUESTIONS)) {
  for (const text of texts) console.log(JSON.stringify({ kind, text }));
}
