/**
 * The operator's token: arrives in the address as `#token=…`, lives in this tab's sessionStorage, leaves the address bar
 * at once. No cookie, because cookies ignore ports and another local server would receive ours.
 */
const KEY = "gemba.token";
const listeners = new Set<() => void>();
let token: string | null = sessionStorage.getItem(KEY);

export function currentToken(): string | null {
  return token;
}

/** Calls back whenever another token is taken up or the present one is refused. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setToken(next: string | null): void {
  if (next === token) return;
  token = next;
  if (next === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, next);
  for (const listener of listeners) listener();
}

/** Forgets `refused` after the server said no to it, unless a newer one has taken its place meanwhile. */
export function forgetToken(refused: string | null): void {
  if (token !== null && token === refused) setToken(null);
}

function takeFromAddress(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  setToken(given);
}

/** Reads the address now, and again when a fresh link is pasted into the same tab (only the fragment changes then). */
export function watchAddressForToken(): void {
  takeFromAddress();
  addEventListener("hashchange", takeFromAddress);
}
