// The switch between dark and light; until it is used, the system's wish holds.

const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

/** Wire the button; `changed` is called after each change, for what is drawn in colours of its own. */
export function themeSwitch(button, changed) {
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `${button.textContent} theme`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("foveate-theme", root.dataset.theme);
    show();
    changed();
  });
  system.addEventListener("change", () => {
    show();
    changed();
  });
  show();
}
