// @ts-check
/**
 * The theme that the visitor has chosen in this browser: system, light or dark.
 *
 * This is a classic script, not a module, because it must run before the first paint. It sets an attribute of the root element that the
 * style sheet uses. Players, which draw with the text colour, are notified by the event `rhae-theme`.
 */
{
  const STORAGE_KEY = "rhae-theme";
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(STORAGE_KEY);
    } catch {
      // Without storage, every page has the system's theme.
      return null;
    }
  };

  /** @param {string | null} wanted */
  const set = (wanted) => {
    const theme = wanted !== null && THEMES.includes(wanted) ? wanted : THEMES[0];
    root.dataset.theme = theme;
    // Determines the colours that the browser itself paints, before the style sheet is loaded and around the page.
    document.querySelector("meta[name=color-scheme]")?.setAttribute("content", theme === "system" ? "light dark" : theme);
    dispatchEvent(new CustomEvent(STORAGE_KEY, { detail: theme }));
  };

  set(stored());
  document.addEventListener("click", (event) => {
    const pressed = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-switch=theme]"));
    if (!pressed) return;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
    set(next);
    try {
      localStorage.setItem(STORAGE_KEY, next);
    } catch {
      // Without storage, the choice applies to this page only.
    }
    // A button clicked with a pointer gives up the focus, so that the space bar goes to the game.
    if (event.detail > 0) pressed.blur();
  });
  // Applies a theme that was chosen in another window, or while this page was in the back-forward cache.
  addEventListener("storage", (event) => event.key === STORAGE_KEY && set(event.newValue));
  addEventListener("pageshow", (event) => event.persisted && set(stored()));
}
