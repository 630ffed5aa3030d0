/**
 * What the window shows, as a URL: `#/run?suite=quick&sel=...`. Reload, back and forward, and a copied address bring it
 * back. Unknown pages and parameters fall away.
 */
import { PAGE_IDS, type PageId } from "../../electron/actions.ts";
import { createStore, useStore } from "./store.ts";

export interface View {
  readonly page: PageId;
  readonly params: Readonly<Record<string, string>>;
}

const DEFAULT_PAGE: PageId = "run";

/** Longest value of a parameter that is taken from a URL. */
const MAX_VALUE = 500;

export function parseView(hash: string): View {
  const [name = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const page = PAGE_IDS.find((id) => id === name);
  if (page === undefined) return { page: DEFAULT_PAGE, params: {} };
  const entries = [...new URLSearchParams(query)].filter(
    ([key, value]) => /^[a-z]{1,20}$/.test(key) && value.length <= MAX_VALUE,
  );
  return { page, params: Object.fromEntries(entries) };
}

export function formatView({ page, params }: View): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#/${page}${query === "" ? "" : `?${query}`}`;
}

/** Pages that show one run, and those of them that show one of its results. */
const RUN_PAGES: readonly PageId[] = ["run", "parity", "captures", "fragments", "kernels"];
const RESULT_PAGES: readonly PageId[] = ["run", "parity", "captures", "fragments"];

/**
 * What a page is opened with from the view at hand: it is about the same run and the same result. The page at hand itself
 * begins anew.
 */
export function carriedTo(page: PageId, from: View): View["params"] {
  if (from.page === page) return {};
  const source = from.page === "evidence" ? "bundle" : "run";
  const run = from.page === "evidence" || RUN_PAGES.includes(from.page) ? from.params[source] : undefined;
  const sel = RESULT_PAGES.includes(from.page) && RESULT_PAGES.includes(page) ? from.params.sel : undefined;
  if (page === "evidence") return run === undefined ? {} : { bundle: run };
  if (!RUN_PAGES.includes(page)) return {};
  return { ...(run === undefined ? {} : { run }), ...(sel === undefined ? {} : { sel }) };
}

/** Place in this window's own history: `depth` counts the views that were gone to, `deepest` the last of them. */
interface Place {
  readonly view: View;
  readonly depth: number;
  readonly deepest: number;
}

const place = createStore<Place>({ view: { page: DEFAULT_PAGE, params: {} }, depth: 0, deepest: 0 });

function depthOf(state: unknown): number {
  const depth = (state as { readonly depth?: unknown } | null)?.depth;
  return typeof depth === "number" && Number.isInteger(depth) && depth >= 0 ? depth : 0;
}

/** Takes the view from the URL and follows it from now on. */
export function startViews(): void {
  const read = (): void => {
    const depth = depthOf(history.state);
    place.set(({ deepest }) => ({ view: parseView(location.hash), depth, deepest: Math.max(deepest, depth) }));
  };
  read();
  history.replaceState({ depth: place.get().depth }, "", formatView(place.get().view));
  addEventListener("popstate", read);
}

/** Goes to a view; back returns from it. */
export function go(page: PageId, params: View["params"] = {}): void {
  const view = { page, params };
  const { depth, view: before } = place.get();
  if (formatView(before) === formatView(view)) return;
  history.pushState({ depth: depth + 1 }, "", formatView(view));
  place.set({ view, depth: depth + 1, deepest: depth + 1 });
}

/** Goes to a page, about what the view at hand shows. */
export function goToPage(page: PageId): void {
  go(page, carriedTo(page, place.get().view));
}

/** Changes parameters of the page at hand; null takes one away. A selection or a filter is no step of the history. */
export function setParams(change: Readonly<Record<string, string | null>>): void {
  const { view, depth, deepest } = place.get();
  const merged = Object.entries({ ...view.params, ...change }).filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[1] !== "",
  );
  const next = { page: view.page, params: Object.fromEntries(merged) };
  history.replaceState({ depth }, "", formatView(next));
  place.set({ view: next, depth, deepest });
}

export function useView(): View {
  return useStore(place).view;
}

/** Whether back and forward lead anywhere within this window. */
export function useHistory(): { readonly canGoBack: boolean; readonly canGoForward: boolean } {
  const { depth, deepest } = useStore(place);
  return { canGoBack: depth > 0, canGoForward: depth < deepest };
}
