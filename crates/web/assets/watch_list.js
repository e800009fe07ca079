// @ts-check
/** Refreshes the list of plays in progress while the page is visible. */

const INTERVAL_MS = 3000;

async function refresh() {
  if (document.visibilityState !== "visible") return;
  try {
    const response = await fetch("/watch", { cache: "no-store" });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-show=plays]");
    const place = document.querySelector("[data-show=plays]");
    if (!fresh || !place || fresh.innerHTML === place.innerHTML) return;
    const focused = document.activeElement?.getAttribute("href");
    place.replaceChildren(...document.importNode(fresh, true).childNodes);
    [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
  } catch {
    // The next refresh tries again.
  }
}

setInterval(() => void refresh(), INTERVAL_MS);
