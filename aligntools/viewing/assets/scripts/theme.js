// Dark or light: as the system says, until the switch is used; then as it says.
import { openStore } from "./store.js";

export function startTheme() {
  const store = openStore("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  let chosen = store.read();
  function show() {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
  }
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    store.write(chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
