/** The text of docs/checks.md. Only `check --explain` loads this file. */
import document from "../../docs/checks.md" with { type: "text" };

export const CHECKS_DOCUMENT: string = document;
