// What the theme does not do: wide programs and tables can be scrolled by keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const wide of document.querySelectorAll("pre, .table-wrapper")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }
  // what the theme and the generator leave unsaid to people who do not see the page
  const name = (selector, said) => document.querySelector(selector)?.setAttribute("aria-label", said);
  name(".sidebar-drawer", "All pages");
  name(".toc-drawer", "This page");
  for (const part of document.querySelectorAll(".caption[role=heading]")) part.ariaLevel = "2";
  for (const part of document.querySelectorAll("dt dl, dt dl > dd")) {
    const plain = document.createElement("div"); // a long signature is no list of definitions
    plain.className = part.tagName === "DD" ? "parameter" : "";
    plain.append(...part.childNodes);
    part.replaceWith(plain);
  }
  for (const corner of document.querySelectorAll("th")) {
    if (corner.textContent.trim()) continue;
    const cell = document.createElement("td"); // nothing stands in it, so it is the head of nothing
    cell.className = corner.className;
    corner.replaceWith(cell);
  }
});
