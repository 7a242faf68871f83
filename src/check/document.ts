/** docs/checks.md as text. Only `check --explain` loads it. */
import document from "../../docs/checks.md" with { type: "text" };

export const CHECKS_DOCUMENT: string = document;
