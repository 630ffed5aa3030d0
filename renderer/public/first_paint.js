// Sets the theme before anything is painted: the window itself is a module, which runs after the first paint may have
// been. Loaded by a plain script element, because the content security policy allows no inline script.
// The key and the form are those of renderer/state/settings.ts.
(() => {
  let theme = "system";
  try {
    const stored = JSON.parse(localStorage.getItem("lockstep.settings.1") ?? "{}");
    if (stored !== null && ["light", "dark"].includes(stored.theme)) theme = stored.theme;
  } catch {
    // Broken or forbidden storage: as the system has it.
  }
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
