// What scrolls sideways can be reached by the keyboard.
for (const box of document.querySelectorAll("pre > code, .table-wrapper")) {
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
