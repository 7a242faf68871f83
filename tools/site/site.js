// Browsers break lines after a hyphen, also after the first one of "--flag".
for (const code of document.querySelectorAll(":not(pre) > code")) {
  if (code.childElementCount > 0 || !code.textContent.includes("-")) continue;
  const parts = code.textContent.split(/((?<![^ ])--?[a-z][a-z-]{0,24})/i);
  code.replaceChildren(...parts.map((text, at) => {
    if (at % 2 === 0) return text;
    const flag = document.createElement("span");
    flag.className = "flag";
    flag.textContent = text;
    return flag;
  }));
}
// A long name in a table may break after a part of it.
for (const code of document.querySelectorAll("td code")) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const parts = text.data.split(/(?<=\w[_/,:=|])(?=\w)|(?<=\w\.)(?=\w{4})/);
    if (parts.length === 1 || text.parentElement.className === "flag") continue;
    text.before(...parts.slice(0, -1).flatMap((part) => [part, document.createElement("wbr")]));
    text.data = parts.at(-1);
  }
}
// Pictures keep their lines, and tables that are not much wider than a window; other output is text, which may be wrapped.
for (const code of document.querySelectorAll("pre > code")) {
  const text = code.textContent;
  const isTable = /^[A-Z]+ {2,}[A-Z]/m.test(text) && !/.{130}/.test(text);
  if (!isTable && !/[\u2500-\u257f]/.test(text)) code.classList.add("wraps");
}
// A table that is too wide has a block for each row: site.css. Its cells carry their column's name.
function stack(table) {
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
  table.classList.add("stacked");
  table.setAttribute("role", "table");
  for (const row of table.rows) row.setAttribute("role", "row");
  for (const cell of table.querySelectorAll("th")) cell.setAttribute("role", "columnheader");
  for (const cell of table.querySelectorAll("td")) {
    cell.setAttribute("role", "cell");
    if (cell.cellIndex > 0 && names[cell.cellIndex]) cell.dataset.column = names[cell.cellIndex];
  }
}
for (const table of document.querySelectorAll(".table-wrapper > table")) {
  if (table.offsetWidth > table.parentElement.clientWidth) stack(table);
}
// What scrolls sideways can be reached by the keyboard.
for (const box of document.querySelectorAll("pre > code, .table-wrapper, .content p:has(img)")) {
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
