/** Calls `change` with each text of the page; the list is made before anything changes. */
function eachText(change) {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) texts.push(text);
  for (const text of texts) if (text.parentElement.closest(".whole") === null) change(text);
}
function span(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}
// A session: the commands stand out from their output, which is no code; a table keeps its lines.
for (const code of document.querySelectorAll("pre > code")) {
  if (!code.textContent.startsWith("$ ")) continue;
  const parts = code.textContent.split(/(?<=\n)(?=\$ )|(?<=^\$ .*\n)|(?<=\n)(?=\n)|(?<=\n)(?=[A-Z]+ {2,}\S)/m);
  const kind = (part) => part.startsWith("$ ") ? "command" : /^[A-Z]+ {2,}\S/.test(part) ? "table" : undefined;
  code.replaceChildren(...parts.map((part) => kind(part) === undefined ? part : span(kind(part), part)));
}
// Pictures keep their lines; other output is text, which may be wrapped.
for (const code of document.querySelectorAll("pre > code")) {
  if (!/[\u2500-\u257f]/.test(code.textContent)) code.classList.add("wraps");
}
// Comments beside commands: site.css puts them below the commands of a narrow window.
for (const code of document.querySelectorAll("pre > code:not([class*=language-])")) {
  const parts = code.textContent.split(/(?<=\S)( +)(# .*\n?)/);
  code.replaceChildren(
    ...parts.map((part, at) => at % 3 === 0 ? part : span(["", "gap", "hljs-comment"][at % 3], part)),
  );
}
// Browsers break lines after a hyphen, also in "--flag" and in a date; a short name or a short cell does not break either.
eachText((text) => {
  const parts = text.data.split(/((?<![\w./-])--?(?:[a-z][a-z-]{0,24}|(?= ))|\b\d{4}-\d\d-\d\d\b)/i);
  if (parts.length > 1) text.replaceWith(...parts.map((part, at) => at % 2 === 0 ? part : span("whole", part)));
});
for (const code of document.querySelectorAll(":not(pre) > code")) {
  if (/^\S{1,24}$/.test(code.textContent)) code.classList.add("whole");
}
for (const cell of document.querySelectorAll("td")) {
  if (cell.textContent.length < 15) cell.classList.add("whole");
}
// A longer one may break after a part of it.
eachText((text) => {
  if (text.parentElement.closest("pre > code:not(.wraps)") !== null) return;
  const parts = text.data.split(/(\S{25,})/).flatMap((part, at) => {
    return at % 2 === 0 ? part : part.split(/(?<=\w[_/:=|]|^[:=]|["\w],)(?=[a-z"])|(?<=\w\.)(?=\w{4})/i);
  });
  if (parts.length === 1) return;
  text.before(...parts.slice(0, -1).flatMap((part) => [part, document.createElement("wbr")]));
  text.data = parts.at(-1);
});
// A table that is too wide or too narrow has a block for each row: site.css. Its cells carry their column's name.
function stack(table) {
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
  table.classList.add("stacked");
  table.setAttribute("role", "table");
  for (const row of table.rows) row.setAttribute("role", "row");
  for (const cell of table.querySelectorAll("th")) cell.setAttribute("role", "columnheader");
  for (const cell of table.querySelectorAll("td")) {
    cell.setAttribute("role", "cell");
    if (cell.cellIndex > 0 && names[cell.cellIndex]) cell.dataset.column = names[cell.cellIndex];
    // Nothing stands for what the row above has.
    if (cell.cellIndex === 0 && cell.textContent === "") {
      const above = table.rows[cell.parentElement.rowIndex - 1].cells[0];
      cell.replaceChildren(...[...above.childNodes].map((node) => node.cloneNode(true)));
    }
  }
}
function isTight(table) {
  if (table.offsetWidth > table.parentElement.clientWidth) return true;
  // A sentence in a column of a word or two.
  const narrow = innerWidth <= 620 ? 150 : 110;
  return [...table.querySelectorAll("td")].some((cell) => cell.textContent.length > 40 && cell.clientWidth < narrow);
}
[...document.querySelectorAll(".table-wrapper > table")].filter(isTight).forEach(stack);
// What scrolls sideways can be reached by the keyboard.
for (const box of document.querySelectorAll("pre > code, pre .table, .table-wrapper, .content p:has(img)")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
// mdBook's bar is no landmark, and its first button is the label of a hidden checkbox, which no Tab reaches.
document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");
const checkbox = document.getElementById("mdbook-sidebar-toggle-anchor");
const label = document.getElementById("mdbook-sidebar-toggle");
if (checkbox !== null && label !== null) {
  const button = document.createElement("button");
  for (const { name, value } of label.attributes) if (name !== "for") button.setAttribute(name, value);
  button.type = "button";
  button.append(...label.childNodes);
  button.addEventListener("click", () => checkbox.click());
  checkbox.addEventListener("change", () => button.setAttribute("aria-expanded", checkbox.checked));
  label.replaceWith(button);
}
