// @ts-check
/**
 * The theme: the system's, light or dark, as the visitor has chosen in this browser.
 *
 * No module, because it must have run before anything is painted: what it sets on the root element is what the style goes by. A player
 * that draws with the colours of the text is told by `rhae-theme`.
 */
{
  const STORED = "rhae-theme";
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(STORED);
    } catch {
      // A browser that keeps nothing has the system's theme on every page.
      return null;
    }
  };

  /** @param {string | null} asked */
  const set = (asked) => {
    const theme = asked !== null && THEMES.includes(asked) ? asked : THEMES[0];
    root.dataset.theme = theme;
    // What a browser paints by itself, before there is a style and around the page.
    document.querySelector("meta[name=color-scheme]")?.setAttribute("content", theme === "system" ? "light dark" : theme);
    dispatchEvent(new CustomEvent(STORED, { detail: theme }));
  };

  set(stored());
  document.addEventListener("click", (event) => {
    const pressed = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-switch=theme]"));
    if (!pressed) return;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
    set(next);
    try {
      localStorage.setItem(STORED, next);
    } catch {
      // It holds for this page then.
    }
    // A button that was pressed by hand does not keep the space bar, with which a person may be playing.
    if (event.detail > 0) pressed.blur();
  });
  // The other windows follow, and a page that comes out of the browser's memory catches up.
  addEventListener("storage", (event) => event.key === STORED && set(event.newValue));
  addEventListener("pageshow", (event) => event.persisted && set(stored()));
}
