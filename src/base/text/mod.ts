/** Text helpers for lines, columns, similar words, and safe text for terminals. */
export { ageText } from "./age.ts";
export { closest, editDistance } from "./closest.ts";
export { columns, columnsBeforeText, columnsWithin } from "./columns.ts";
export { counted } from "./counted.ts";
export { linesOf } from "./lines.ts";
export { shellQuoted } from "./shell.ts";
export { CLEAR_SCREEN, plainText, terminalText } from "./terminal_text.ts";
export { paddedTo, textWidth } from "./text_width.ts";
export { trimmed, trimmedEnd } from "./trim.ts";
export { decodeUtf8 } from "./utf8.ts";
export { visible, withoutCommand } from "./visible.ts";
export { withoutMiddle } from "./without_middle.ts";
export { wrapped, wrappedAround, wrappedBeforeCommand } from "./wrapped.ts";
